"""Lines of the feed for tests, and a hook that hears of incidences instead of the tickets'."""

import io
import json
from pathlib import Path
from typing import Any, NamedTuple

from django.core.management import call_command
from django.core.management.base import CommandError

from shipments.models import Incidence

ORDER = {
    "shop_id": 77,
    "order_identifier": "5501",
    "order_number": "1042",
    "order_name": "#1042",
}

Line = dict[str, Any]
heard_incidences: list[Incidence] = []


def hear(incidence: Incidence) -> None:
    heard_incidences.append(incidence)


def shipment(shipment_id: int, company_id: int, **changes: Any) -> Line:
    return {
        "kind": "shipment",
        "shipment_id": shipment_id,
        "company_id": company_id,
        "tracking_number": f"TEST{shipment_id:07}",
        "carrier_name": "acme",
        **changes,
    }


def tracking(shipment_id: int, status: str, **changes: Any) -> Line:
    return {"kind": "tracking", "shipment_id": shipment_id, "status": status, **changes}


def surcharge(surcharge_id: int, shipment_id: int, **changes: Any) -> Line:
    return {
        "kind": "surcharge",
        "surcharge_id": surcharge_id,
        "shipment_id": shipment_id,
        "surcharge_type": "Overweight",
        "amount": 12.5,
        "currency": "MXN",
        "transaction_type": "surcharge",
        **changes,
    }


def incidence(incidence_id: int, shipment_id: int, **changes: Any) -> Line:
    return {
        "kind": "incidence",
        "incidence_id": incidence_id,
        "shipment_id": shipment_id,
        **changes,
    }


class Fed(NamedTuple):
    """Output of a run of `ingest`."""

    counts: dict[str, int]
    reasons: list[str]
    failure: CommandError | None


def encoded(line: Line | bytes) -> bytes:
    return line if isinstance(line, bytes) else json.dumps(line).encode()


def write(path: Path, *lines: Line | bytes) -> Path:
    path.write_bytes(b"".join(encoded(line) + b"\n" for line in lines))
    return path


def ingest(file: Path | str) -> Fed:
    out, err = io.StringIO(), io.StringIO()
    failure = None
    try:
        call_command("ingest", str(file), stdout=out, stderr=err)
    except CommandError as error:
        failure = error
    lines = out.getvalue().splitlines()
    return Fed(json.loads(lines[-1]) if lines else {}, err.getvalue().splitlines(), failure)


def counts(
    read: int, changed: int, events: int = 0, bad: int = 0, known: int = 0
) -> dict[str, int]:
    return {"read": read, "changed": changed, "events": events, "bad": bad, "known": known}
