"""Webhooks and deliveries in the reader's words. Read-only."""

import json
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils.translation import gettext, gettext_noop

from deliveries.http.answers import Failure
from deliveries.models import Attempt, Delivery, Event, State
from deliveries.monitoring.log import MOST_ATTEMPTS, ticket_of
from webhooks.event_types import registry
from webhooks.models import Webhook

MOST_RECENT = 25
LONGEST_BODY = 64 * 1024
WORDS: dict[str, str] = {
    Failure.BAD_TARGET: gettext_noop("The URL is not an allowed target."),
    Failure.DNS: gettext_noop("The host name cannot be resolved."),
    Failure.FORBIDDEN_ADDRESS: gettext_noop(
        "The host name resolves to an address that is not public."
    ),
    Failure.REFUSED: gettext_noop("The connection was refused."),
    Failure.TIMEOUT: gettext_noop("No response within the time limit."),
    Failure.TLS: gettext_noop(
        "The TLS handshake failed, or the certificate is not valid for this host."
    ),
    Failure.TLS_EXPIRED: gettext_noop("The certificate has expired, or is not yet valid."),
    Failure.RESET: gettext_noop("The connection broke before a response arrived."),
    Failure.PROTOCOL: gettext_noop("The response is not valid HTTP."),
    Failure.PROXY_REFUSED: gettext_noop(
        "The outgoing proxy refused. The receiver is not at fault."
    ),
    Failure.INTERNAL: gettext_noop("An error on our side. The receiver is not at fault."),
}
CONDITIONS = {
    "well": gettext_noop("healthy"),
    "failing": gettext_noop("failing"),
    "resting": gettext_noop("resting"),
    "held": gettext_noop("held"),
    "paused": gettext_noop("paused"),
    "unreadable": gettext_noop("unreadable"),
    "behind": gettext_noop("behind"),
}


class Facts(NamedTuple):
    """Deliveries of a webhook. `failed`: the oldest in retry, else the last that was given up."""

    has_any: bool = False
    waiting_since: datetime | None = None
    missing_since: datetime | None = None
    failed: Delivery | None = None


def signature_words(verdict: str) -> str:
    return gettext(verdict)


def condition_words(condition: str) -> str:
    words = CONDITIONS.get(condition, condition)
    return gettext(words)


def attention_words(condition: str) -> str:
    """Return the word for the list of webhooks that need attention: a healthy one is "behind"."""
    return condition_words("behind" if condition == "well" else condition)


def attempt_outcome(status: int | None, error: str) -> str:
    """Describe an attempt's outcome: its failure, or the status of the response."""
    if error:
        words = WORDS.get(error, error)
        return gettext(words)
    if status is None:
        return gettext("Not attempted yet.")
    right = 200 <= status < 300
    text = gettext("Answered %(status)d.") if right else gettext("Answered %(status)d, not 2xx.")
    return text % {"status": status}


def subject_words(delivery: Delivery) -> str:
    """Name a delivery's subject: a shipment or a ticket, by its number; "" without one."""
    if delivery.subject_id is None:
        return ""
    ticket_id = ticket_of(delivery)
    if ticket_id is None:
        return gettext("shipment %(shipment)d") % {"shipment": delivery.subject_id}
    return gettext("ticket %(ticket)s") % {"ticket": ticket_id}


def recent_deliveries(webhook: Webhook) -> list[dict[str, Any]]:
    """Return a webhook's last deliveries, newest first."""
    deliveries = list(webhook.deliveries.order_by("-created_at", "-event_id")[:MOST_RECENT])
    return delivery_lines(deliveries)


def delivery_lines(deliveries: list[Delivery]) -> list[dict[str, Any]]:
    """Return deliveries with their events and outcomes for a table, in at most two queries."""
    lines = []
    for delivery, event in with_events(deliveries):
        lines.append(
            {
                "delivery": delivery,
                "about": subject_words(delivery),
                "state": delivery.get_state_display(),
                "delivered": delivery.state == State.DELIVERED,
                "given_up": delivery.state == State.GIVEN_UP,
                "event": event_type_name(event),
                "event_id": delivery.event_id,
                "tracking_number": event.tracking_number if event else None,
                "outcome": attempt_outcome(delivery.last_status, delivery.last_error),
            }
        )
    return lines


def with_events(deliveries: list[Delivery]) -> list[tuple[Delivery, Event | None]]:
    events = Event.objects.defer("body").filter(
        pk__in=[delivery.event_id for delivery in deliveries],
        created_at__in=[delivery.created_at for delivery in deliveries],
    )
    by_id = {event.pk: event for event in events} if deliveries else {}
    return [(delivery, by_id.get(delivery.event_id)) for delivery in deliveries]


def event_type_name(event: Event | None) -> str | None:
    return registry.name(event.type_id) if event else None


def facts_of(webhooks: QuerySet[Webhook]) -> dict[int, Facts]:
    """Return the facts of webhooks by id, in two queries."""
    own = Delivery.objects.filter(webhook=OuterRef("pk")).order_by("created_at", "event_id")
    waiting, lost = own.open(), own.filter(state=State.GIVEN_UP)
    tried = waiting.filter(attempts__gt=0)
    rows = webhooks.values_list(
        "pk",
        Exists(own),
        Subquery(waiting.values("created_at")[:1]),
        Subquery(lost.values("created_at")[:1]),
        Coalesce(Subquery(tried.values("pk")[:1]), Subquery(lost.reverse().values("pk")[:1])),
    )
    found = list(rows)
    failed = Delivery.objects.in_bulk([key for *_, key in found if key])
    return {
        pk: Facts(has_any, oldest, min(filter(None, (oldest, gone)), default=None), failed.get(key))
        for pk, has_any, oldest, gone, key in found
    }


def last_failure(webhook: Webhook) -> Attempt | None:
    """Return the latest attempt of a webhook's failed delivery."""
    failed = facts_of(Webhook.objects.filter(pk=webhook.pk))[webhook.pk].failed
    return failed.log.order_by("-number").defer("url").first() if failed else None


def delivery_parts(delivery: Delivery) -> dict[str, Any]:
    """Return a delivery in full: body raw and indented, outcomes of the newest attempts."""
    event = Event.objects.filter(pk=delivery.event_id, created_at=delivery.created_at).first()
    raw = readable_text(bytes(event.body)) if event else None
    return {
        "stored_event": event,
        "event": event_type_name(event),
        "tracking_number": event.tracking_number if event else None,
        "request_id": event.request_id if event else None,
        "raw": raw and raw[:LONGEST_BODY],
        "cut": len(raw or "") > LONGEST_BODY,
        "pretty": raw and indented_json(raw),
        "log": [
            {
                "attempt": attempt,
                "outcome": attempt_outcome(attempt.status, attempt.error),
                "answer": readable_text(bytes(attempt.answer)),
            }
            for attempt in reversed(delivery.log.order_by("-number")[:MOST_ATTEMPTS])
        ],
    }


def readable_text(content: bytes) -> str:
    return content.decode("utf-8", "replace").replace("\x00", "�")


def indented_json(raw: str) -> str | None:
    """Indent a JSON text; None if it is invalid or longer than LONGEST_BODY."""
    if len(raw) > LONGEST_BODY:
        return None
    try:
        return json.dumps(json.loads(raw), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return None
