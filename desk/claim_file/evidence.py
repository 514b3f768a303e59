"""The record of a shipment's events as they were sent, to attach to a dispute.

The same state gives the same bytes, so that two exports can be compared by their digest.
"""

import base64
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.template.loader import render_to_string
from django.utils import timezone, translation

from core.files.kinds import KINDS
from deliveries.engine import signature_check
from deliveries.engine.rendering import API_VERSION
from deliveries.models import Attempt, Delivery, Event, State
from deliveries.monitoring import delivery_details
from desk.claim_file.contents import own_shipment, shipment_deliveries
from desk.claim_file.parts import Parts, content_of, fetch_files, readable_json
from desk.common.controls import show_in_page
from desk.support import lookup
from shipments.models import Shipment
from tickets.models import Ticket, TicketFile
from webhooks.models import Webhook

MOST_ATTEMPTS = 20_000
# Bytes of an answer in the record; its digest is over all bytes that are stored.
ANSWER_BYTES = 2_048
SCHEME = "v1= and the hex HMAC-SHA256 of X-Webhook-Timestamp.X-Webhook-Event.body"


@translation.override("en")
def evidence_parts(about: Ticket | Shipment, folder: Path) -> Parts:
    """Build the parts of the archive; the manifest has the digests of all others.

    The texts are always in English, so that the bytes do not depend on the user.
    """
    company = about.company
    ticket, shipment = (about, None) if isinstance(about, Ticket) else (None, about)
    if ticket:
        shipment = own_shipment(ticket)
    newest = shipment_deliveries(shipment)
    # Oldest first.
    deliveries = newest.deliveries[::-1]
    bodies = Event.objects.filter(
        pk__in={one.event_id for one in deliveries},
        created_at__in={one.created_at for one in deliveries},
    )
    events = {event.pk: event for event in bodies} if deliveries else {}
    attempts, some_left_out = attempts_of(deliveries)
    # The company passes the evidence on, so files for colleagues only are left out.
    public = ticket.files.filter(public=True) if ticket else TicketFile.objects.none()
    files = list(public.select_related("requested_document"))
    paths = fetch_files(files, folder)
    entries = [file_entry(file, is_included=file.pk in paths) for file in files]
    record = {
        "ticket": ticket and ticket.pk,
        "company": {"id": company.pk, "name": company.name},
        "shipment": shipment
        and {
            "id": shipment.pk,
            "tracking_number": shipment.tracking_number,
            "carrier": shipment.carrier_name,
        },
        "complete": not (newest.cut or some_left_out or len(paths) < len(files)),
        "most_deliveries": lookup.MOST_DELIVERIES,
        "signature_scheme": SCHEME,
        "deliveries": [
            delivery_entry(
                one, events.get(one.event_id), newest.webhooks[one.webhook_id], attempts[one.pk]
            )
            for one in deliveries
        ],
        "files": entries,
    }
    parts: Parts = {f"bodies/{event.pk}.json": bytes(event.body) for event in events.values()}
    parts |= {file_path(file): paths[file.pk] for file in files if file.pk in paths}
    parts["evidence.json"] = readable_json(record)
    parts["index.html"] = show_in_page(render_to_string("desk/evidence.html", record)).encode()
    digests = {name: sha256(content_of(parts[name])).hexdigest() for name in sorted(parts)}
    return {**parts, "manifest.json": readable_json({"sha256": digests})}


def file_path(file: TicketFile) -> str:
    # The name is our own: a stranger's could make an unpacking program write elsewhere.
    return f"files/{file.pk}{KINDS[file.media_type].extensions[0]}"


def file_entry(file: TicketFile, *, is_included: bool) -> dict[str, Any]:
    return {
        "file": file_path(file) if is_included else None,
        "name": file.name,
        "description": file.description,
        "requested_document": file.requested_document and file.requested_document.name,
        "content_type": file.media_type,
        "bytes": file.size,
        "sha256": file.sha256,
        "received_at": iso_or_none(file.created_at),
    }


def attempts_of(deliveries: list[Delivery]) -> tuple[dict[Any, list[Attempt]], bool]:
    attempts = list(
        Attempt.objects.filter(delivery_id__in=[one.pk for one in deliveries]).order_by(
            "delivery_id", "number", "started_at"
        )[: MOST_ATTEMPTS + 1]
    )
    by_delivery: dict[Any, list[Attempt]] = defaultdict(list)
    for attempt in attempts[:MOST_ATTEMPTS]:
        by_delivery[attempt.delivery_id].append(attempt)
    return by_delivery, len(attempts) > MOST_ATTEMPTS


def body_entry(event: Event) -> dict[str, str]:
    body = bytes(event.body)
    return {
        "file": f"bodies/{event.pk}.json",
        "sha256": sha256(body).hexdigest(),
        "base64": base64.b64encode(body).decode(),
        "text": body.decode("utf-8", "replace"),
    }


def delivery_entry(
    delivery: Delivery, event: Event | None, webhook: Webhook, attempts: Iterable[Attempt]
) -> dict[str, Any]:
    body = bytes(event.body) if event else None
    return {
        "x_webhook_id": str(delivery.pk),
        "event": webhook.type_name,
        "webhook": {"id": webhook.pk, "url": webhook.url},
        "state": State(delivery.state).slug,
        "made_at": iso_or_none(delivery.created_at),
        "finished_at": iso_or_none(delivery.finished_at),
        "headers": sent_headers(delivery, event, webhook),
        "body": event and body_entry(event),
        "attempts": [attempt_entry(one, webhook, body) for one in attempts],
    }


def sent_headers(delivery: Delivery, event: Event | None, webhook: Webhook) -> dict[str, str]:
    """Return the headers of every attempt, without Authorization and the signature."""
    headers = {"Content-Type": "application/json"}
    if webhook.signed:
        headers |= {
            "X-Webhook-Event": webhook.type_name,
            "X-Webhook-Version": API_VERSION,
            "X-Webhook-Id": str(delivery.pk),
        }
        # Versions without facts sent their events without these two.
        if event and event.fact_id:
            headers |= {
                "X-Webhook-Event-Id": str(event.fact_id),
                "X-Webhook-Sequence": str(event.sequence),
            }
    return headers


def attempt_entry(attempt: Attempt, webhook: Webhook, body: bytes | None) -> dict[str, Any]:
    answer, now = bytes(attempt.answer), timezone.now()
    signed = (
        None if body is None else signature_check.recreate_signature(webhook, body, attempt, now)
    )
    return {
        "number": attempt.number,
        "started_at": iso_or_none(attempt.started_at),
        "duration_ms": attempt.duration_ms,
        "url": attempt.url,
        "status": attempt.status,
        "outcome": delivery_details.attempt_outcome(attempt.status, attempt.error),
        "detail": attempt.detail,
        "signature": str(signature_check.secret_status(webhook, attempt.started_at, now)),
        "x_webhook_timestamp": signed and signed.timestamp,
        "x_webhook_signature": signed and signed.signature,
        "answer": {
            "kept_bytes": len(answer),
            "sha256": sha256(answer).hexdigest(),
            "text": delivery_details.readable_text(answer[:ANSWER_BYTES]),
        },
    }


def iso_or_none(moment: datetime | None) -> str | None:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ") if moment else None
