"""The record of a shipment's events as they were sent, as one file to attach to a dispute.

The same state gives the same bytes, so that two exports can be compared by their digest.
"""

import base64
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.db import transaction
from django.template.loader import render_to_string
from django.utils import timezone, translation
from django.utils.translation import gettext

from companies.models import Company
from deliveries.engine import signature_check
from deliveries.engine.rendering import API_VERSION
from deliveries.models import Attempt, Delivery, Event, State
from desk.common.controls import show_in_page
from desk.support import delivery_details, lookup
from desk.support.evidence_files import file_parts
from shipments.models import Shipment
from tickets.changes.actors import Actor, NotAllowed
from tickets.changes.history import record_history
from tickets.history_codes import Kind
from tickets.models import Ticket
from tickets.statuses import By
from webhooks.models import Webhook

NEEDED = ["tickets.view_ticket", "deliveries.view_delivery"]
NEEDED_WITHOUT_TICKET = ["shipments.view_shipment", "deliveries.view_delivery"]
MOST_ATTEMPTS = 20_000
# Of an answer so much is copied; its digest is over all that we keep.
ANSWER_BYTES = 2_048
# Zip files cannot tell of an earlier time, and ours tells of none.
NO_TIME = (1980, 1, 1, 0, 0, 0)
SCHEME = "v1= and the hex HMAC-SHA256 of X-Webhook-Timestamp.X-Webhook-Event.body"


def export_ticket(ticket: Ticket, *, user: User) -> bytes:
    """The ZIP of a ticket's shipment; who took it when is kept in history. Raises NotAllowed."""
    require_evidence_permission(user, NEEDED)
    shipment = Shipment.objects.filter(
        pk=ticket.shipment_id or 0, company=ticket.company_id
    ).first()
    content = archive(files(ticket.company, shipment, ticket))
    # Files come from the storage, perhaps over a network: no transaction waits for them.
    actor, digest = Actor(By.AGENT, user.get_username()), hashlib.sha256(content).hexdigest()
    record_history(ticket, actor, Kind.EVIDENCE_TAKEN, data={"sha256": digest})
    return content


@transaction.atomic
def export_shipment(shipment: Shipment, *, user: User) -> bytes:
    """The same of a shipment without a ticket; its own log keeps who took it. Raises NotAllowed."""
    require_evidence_permission(user, NEEDED_WITHOUT_TICKET)
    content = archive(files(shipment.company, shipment))
    text = gettext("Downloaded the evidence, SHA-256 %(digest)s.")
    said = text % {"digest": hashlib.sha256(content).hexdigest()}
    LogEntry.objects.log_actions(user.pk, [shipment], CHANGE, said)
    return content


def require_evidence_permission(user: User, needed: list[str]) -> None:
    if not user.is_active or not user.has_perms(needed):
        text = gettext("%(name)s is not allowed to download evidence.")
        raise NotAllowed(text % {"name": user.get_username()})


@translation.override("en")
def files(
    company: Company, shipment: Shipment | None, ticket: Ticket | None = None
) -> dict[str, bytes]:
    """Name and content of each file; the manifest has the digest of all the others.

    In English for everybody: whoever takes it, the bytes are the same.
    """
    found = lookup.events_of(shipment.tracking_number, company) if shipment else []
    # What we and the company write to each other is no carrier's business.
    events = [event for event in found if event.ticket_id is None]
    webhooks = {one.pk: one for one in lookup.webhooks_of(company)}
    deliveries = lookup.deliveries_of(events[: lookup.MOST_EVENTS], list(webhooks))
    cut = len(found) > lookup.MOST_EVENTS or len(deliveries) > lookup.MOST_DELIVERIES
    deliveries = deliveries[: lookup.MOST_DELIVERIES][::-1]
    bodies = Event.objects.filter(
        pk__in={one.event_id for one in deliveries},
        created_at__in={one.created_at for one in deliveries},
    )
    kept = {event.pk: event for event in bodies} if deliveries else {}
    attempts, some_left_out = attempts_of(deliveries)
    parts = file_parts(ticket) if ticket else []
    cut = cut or any(part.content is None for part in parts)
    record = {
        "ticket": ticket and ticket.pk,
        "company": {"id": company.pk, "name": company.name},
        "shipment": shipment
        and {
            "id": shipment.pk,
            "tracking_number": shipment.tracking_number,
            "carrier": shipment.carrier_name,
        },
        "complete": not (cut or some_left_out),
        "most_deliveries": lookup.MOST_DELIVERIES,
        "signature_scheme": SCHEME,
        "deliveries": [
            delivery_entry(one, kept.get(one.event_id), webhooks[one.webhook_id], attempts[one.pk])
            for one in deliveries
        ],
        "files": [part.entry for part in parts],
    }
    made = {f"bodies/{event.pk}.json": bytes(event.body) for event in kept.values()}
    made |= {part.entry["file"]: part.content for part in parts if part.content is not None}
    made["evidence.json"] = as_json(record)
    made["index.html"] = show_in_page(render_to_string("desk/evidence.html", record)).encode()
    digests = {name: hashlib.sha256(made[name]).hexdigest() for name in sorted(made)}
    return {**made, "manifest.json": as_json({"sha256": digests})}


def attempts_of(deliveries: list[Delivery]) -> tuple[dict[Any, list[Attempt]], bool]:
    found = list(
        Attempt.objects.filter(delivery_id__in=[one.pk for one in deliveries]).order_by(
            "delivery_id", "number", "started_at"
        )[: MOST_ATTEMPTS + 1]
    )
    by_delivery: dict[Any, list[Attempt]] = defaultdict(list)
    for attempt in found[:MOST_ATTEMPTS]:
        by_delivery[attempt.delivery_id].append(attempt)
    return by_delivery, len(found) > MOST_ATTEMPTS


def body_entry(event: Event) -> dict[str, str]:
    body = bytes(event.body)
    return {
        "file": f"bodies/{event.pk}.json",
        "sha256": hashlib.sha256(body).hexdigest(),
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
        "state": State(delivery.state).label,
        "made_at": iso_or_none(delivery.created_at),
        "finished_at": iso_or_none(delivery.finished_at),
        "headers": sent_headers(delivery, event, webhook),
        "body": event and body_entry(event),
        "attempts": [attempt_entry(one, webhook, body) for one in attempts],
    }


def sent_headers(delivery: Delivery, event: Event | None, webhook: Webhook) -> dict[str, str]:
    """What every attempt carried; never Authorization."""
    sent = {"Content-Type": "application/json"}
    if webhook.signed:
        sent |= {
            "X-Webhook-Event": webhook.type_name,
            "X-Webhook-Version": API_VERSION,
            "X-Webhook-Id": str(delivery.pk),
        }
        # An event of a version that knew no facts may have gone out without these.
        if event and event.fact_id:
            sent |= {
                "X-Webhook-Event-Id": str(event.fact_id),
                "X-Webhook-Sequence": str(event.sequence),
            }
    return sent


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
            "sha256": hashlib.sha256(answer).hexdigest(),
            "text": delivery_details.readable_text(answer[:ANSWER_BYTES]),
        },
    }


def iso_or_none(moment: datetime | None) -> str | None:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ") if moment else None


def as_json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


def archive(made: dict[str, bytes]) -> bytes:
    content = BytesIO()
    with ZipFile(content, "w") as file:
        for name in sorted(made):
            entry = ZipInfo(name, NO_TIME)
            entry.compress_type, entry.external_attr = ZIP_DEFLATED, 0o644 << 16
            file.writestr(entry, made[name])
    return content.getvalue()
