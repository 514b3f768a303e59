"""What a company sees of its deliveries: the log, one delivery, a webhook's health."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Q, QuerySet

from companies.models import Company
from core.api import sealed_cursors
from core.api.answer_sizes import fitting_rows
from core.api.sealed_cursors import ReadPlace
from core.values.spellings import with_numbers
from deliveries.models import OPEN, Attempt, Delivery, Event, Health, HeldHost, State, SubjectKind
from webhooks.event_types import registry
from webhooks.models import Webhook

TIME_FORMAT = "%Y-%m-%d %H:%M:%S"
# Of one tracking number; a parcel has a few dozen events.
MOST_EVENTS = 1_000
RECENT = 1_000
# Shown of one delivery that was asked for again and again.
MOST_ATTEMPTS = 100
MOST_COUNTED = 10_000
# The kind of cursors here: those of other lists are refused.
LOG = "log"


class BadCursor(ValueError):
    """The text is not a cursor that a page of the log ended with."""


def company_deliveries(company: Company) -> QuerySet[Delivery]:
    return Delivery.objects.filter(webhook__company=company)


def log_page(
    webhook: Webhook,
    *,
    limit: int,
    cursor: str | None = None,
    state: State | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    tracking_number: str | None = None,
) -> tuple[list[Delivery], str | None]:
    """One page of a webhook's log, newest first, and where the next begins. Raises BadCursor."""
    log = webhook.deliveries.created_between(since, until).order_by("-created_at", "-event_id")
    if state == State.WAITING:
        log = log.filter(archived_on=OPEN)
    elif state is not None:
        log = log.filter(state=state)
    if tracking_number is not None:
        events = with_numbers(Event.objects.filter(company=webhook.company), [tracking_number])
        newest = list(events.order_by("-id").values_list("pk", "created_at")[:MOST_EVENTS])
        # A delivery is as old as its event. By number alone all of the webhook's log is read.
        log = log.filter(
            event_id__in=[number for number, _ in newest],
            created_at__in=[created_at for _, created_at in newest],
        )
    if cursor is not None:
        try:
            event_id, time = sealed_cursors.open_place(
                cursor, LOG, webhook.company_id, time_first=True
            )
        except sealed_cursors.UnreadableCursor as error:
            raise BadCursor("This is not a valid cursor for this list.") from error
        log = log.filter(
            Q(created_at__lt=time) | Q(created_at=time, event_id__lt=event_id),
            created_at__lte=time,
        )
    found = list(log[: limit + 1])
    if len(found) <= limit:
        return found, None
    last = ReadPlace(found[limit - 1].event_id, found[limit - 1].created_at)
    return found[:limit], sealed_cursors.seal_place(last, LOG, webhook.company_id)


def ticket_of(delivery: Delivery) -> int | None:
    """The ticket that it tells of, if it tells of one."""
    return delivery.subject_id if delivery.subject_kind == SubjectKind.TICKET else None


def delivery_row(delivery: Delivery, event: Event | None) -> dict[str, Any]:
    """A delivery in the log. The event may be past its retention while the delivery is not."""
    waiting, ticket_id = delivery.state == State.WAITING, ticket_of(delivery)
    shipment_id = delivery.subject_id if ticket_id is None else event and event.shipment_id
    return {
        "id": str(delivery.pk),
        "event": registry.name(event.type_id) if event else None,
        "state": State(delivery.state).slug,
        "attempts": delivery.attempts,
        "due_at": format_time(delivery.due_at) if waiting else None,
        "last_status": delivery.last_status,
        "last_error": delivery.last_error or None,
        "shipment_id": shipment_id,
        "ticket_id": ticket_id,
        "tracking_number": event.tracking_number if event else None,
        "request_id": event.request_id if event else None,
        "created_at": format_time(delivery.created_at),
        "finished_at": format_time(delivery.finished_at),
    }


def delivery_rows(deliveries: list[Delivery]) -> list[dict[str, Any]]:
    events = Event.objects.defer("body").filter(
        pk__in=[delivery.event_id for delivery in deliveries],
        created_at__in=[delivery.created_at for delivery in deliveries],
    )
    found = {event.pk: event for event in events}
    return [delivery_row(delivery, found.get(delivery.event_id)) for delivery in deliveries]


def delivery_detail(delivery: Delivery) -> dict[str, Any]:
    """Return the exact body, and the newest attempts with what came back, the oldest of them first.

    At most MOST_ATTEMPTS, and fewer if an answer has no room for their texts (decision N40).
    """
    event = Event.objects.filter(pk=delivery.event_id, created_at=delivery.created_at).first()
    newest = [attempt_row(each) for each in delivery.log.order_by("-number")[:MOST_ATTEMPTS]]
    return {
        **delivery_row(delivery, event),
        "webhook_id": delivery.webhook_id,
        "body": bytes(event.body).decode() if event else None,
        "log": fitting_rows(newest)[::-1],
    }


def attempt_row(attempt: Attempt) -> dict[str, Any]:
    return {
        "number": attempt.number,
        "started_at": format_time(attempt.started_at),
        "duration_ms": attempt.duration_ms,
        "url": attempt.url,
        "status": attempt.status,
        "error": attempt.error or None,
        "detail": attempt.detail or None,
        "answer": bytes(attempt.answer).decode("utf-8", "replace").replace("\x00", "\ufffd"),
    }


def format_time(time: datetime | None) -> str | None:
    return time.strftime(TIME_FORMAT) if time else None


# The latest attempts, through the log's index and not through a day of them.
MEASURES = """
WITH recent AS (
  SELECT id, created_at, attempt_url, last_status, attempt_duration_ms FROM deliveries_delivery
  WHERE webhook_id = %(webhook)s AND attempts > 0
  ORDER BY created_at DESC, event_id DESC LIMIT %(recent)s
), attempt AS (
  SELECT last_status AS status, attempt_duration_ms AS duration_ms FROM recent
  WHERE attempt_url IS NOT NULL
  UNION ALL
  SELECT status, duration_ms FROM recent CROSS JOIN LATERAL (
    SELECT status, duration_ms FROM deliveries_attempt
    WHERE delivery_id = recent.id AND started_at >= recent.created_at) AS a
  WHERE attempt_url IS NULL
), waiting AS (
  SELECT created_at FROM deliveries_delivery_open WHERE webhook_id = %(webhook)s
  ORDER BY created_at LIMIT %(most)s
)
SELECT
  (SELECT count(*) FROM attempt),
  (SELECT avg(CASE WHEN status BETWEEN 200 AND 299 THEN 1.0 ELSE 0.0 END) FROM attempt),
  (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY duration_ms) FROM attempt),
  (SELECT percentile_disc(0.95) WITHIN GROUP (ORDER BY duration_ms) FROM attempt),
  (SELECT count(*) FROM waiting),
  (SELECT min(created_at) FROM waiting)
"""


def health(webhook: Webhook, now: datetime) -> dict[str, Any]:
    """How its receiver does, over the attempts of its last RECENT deliveries."""
    with connection.cursor() as cursor:
        values = {"webhook": webhook.pk, "recent": RECENT, "most": MOST_COUNTED}
        cursor.execute(MEASURES, values)
        attempts, rate, p50, p95, waiting, oldest = cursor.fetchone()
    noted = Health.objects.filter(webhook=webhook).first() or Health()
    hold = HeldHost.objects.in_force().filter(pk=webhook.host).first()
    return {
        "condition": condition(webhook, noted, now, held=bool(hold)),
        "hold": hold_row(hold) if hold else None,
        "failures_in_a_row": noted.failures,
        "failing_since": format_time(noted.failing_since),
        # While it is held we look at it twice a minute, which is no rest of its receiver's.
        "resting_until": None if hold else format_time(noted.resting_until),
        "attempts": attempts,
        "success_rate": round(float(rate), 4) if rate is not None else None,
        "duration_ms": {"p50": p50, "p95": p95},
        "waiting": waiting,
        "oldest_waiting": format_time(oldest),
    }


def hold_row(hold: HeldHost) -> dict[str, Any]:
    """What its company is told: not who holds it, nor the reason that operators read."""
    return {
        "since": format_time(hold.held_at),
        "until": format_time(hold.held_until),
        "reason": hold.public_reason or None,
    }


def condition(webhook: Webhook, noted: Health, now: datetime, *, held: bool) -> str:
    """In a word. `held`: whether an operator holds its host."""
    if not (webhook.active and webhook.company.active):
        return "paused"
    if held:
        return "held"
    if noted.resting_until is not None and noted.resting_until > now:
        return "resting" if webhook.is_readable(now) else "unreadable"
    return "failing" if noted.failures else "well"


def company_delivery(company: Company, delivery_id: UUID) -> Delivery:
    """Raises Delivery.DoesNotExist: missing and foreign are one."""
    return company_deliveries(company).select_related("webhook").get(pk=delivery_id)
