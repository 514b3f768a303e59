"""Deliveries as companies see them: the log, one delivery, a webhook's health."""

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
# Events of one tracking number; a parcel has a few dozen.
MOST_EVENTS = 1_000
RECENT = 1_000
# Attempts shown of a delivery that was sent again and again.
MOST_ATTEMPTS = 100
MOST_COUNTED = 10_000
# Kind of these cursors: those of other lists are refused.
LOG = "log"


class BadCursor(ValueError):
    """The text is not a cursor from a page of the log."""


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
    """Return a page of a webhook's log, newest first, and the next cursor. Raises BadCursor."""
    log = webhook.deliveries.created_between(since, until).order_by("-created_at", "-event_id")
    if state == State.WAITING:
        log = log.filter(archived_on=OPEN)
    elif state is not None:
        log = log.filter(state=state)
    if tracking_number is not None:
        events = with_numbers(Event.objects.filter(company=webhook.company), [tracking_number])
        newest = list(events.order_by("-id").values_list("pk", "created_at")[:MOST_EVENTS])
        # A delivery is as old as its event. By number alone, the whole log would be read.
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
    deliveries = list(log[: limit + 1])
    if len(deliveries) <= limit:
        return deliveries, None
    last = ReadPlace(deliveries[limit - 1].event_id, deliveries[limit - 1].created_at)
    return deliveries[:limit], sealed_cursors.seal_place(last, LOG, webhook.company_id)


def ticket_of(delivery: Delivery) -> int | None:
    """Return the id of the ticket that a delivery is about, or None."""
    return delivery.subject_id if delivery.subject_kind == SubjectKind.TICKET else None


def delivery_row(delivery: Delivery, event: Event | None) -> dict[str, Any]:
    """Return a delivery as a row of the log; `event` is None if it was pruned before."""
    waiting = delivery.state == State.WAITING
    ticket_id = ticket_of(delivery)
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
    by_id = {event.pk: event for event in events}
    return [delivery_row(delivery, by_id.get(delivery.event_id)) for delivery in deliveries]


def delivery_detail(delivery: Delivery) -> dict[str, Any]:
    """Return a delivery with its exact body and its newest attempts, oldest first.

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


# The latest attempts by the log's index, as a day of attempts would be too many to read.
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
    """Return a webhook's health, measured over the attempts of its last RECENT deliveries."""
    with connection.cursor() as cursor:
        values = {"webhook": webhook.pk, "recent": RECENT, "most": MOST_COUNTED}
        cursor.execute(MEASURES, values)
        attempts, rate, p50, p95, waiting, oldest = cursor.fetchone()
    record = Health.objects.filter(webhook=webhook).first() or Health()
    hold = HeldHost.objects.in_force().filter(pk=webhook.host).first()
    return {
        "condition": condition(webhook, record, now, host_held=bool(hold)),
        "hold": hold_row(hold) if hold else None,
        "failures_in_a_row": record.failures,
        "failing_since": format_time(record.failing_since),
        # A held webhook is looked at twice a minute: that is not a rest of its receiver.
        "resting_until": None if hold else format_time(record.resting_until),
        "attempts": attempts,
        "success_rate": round(float(rate), 4) if rate is not None else None,
        "duration_ms": {"p50": p50, "p95": p95},
        "waiting": waiting,
        "oldest_waiting": format_time(oldest),
    }


def hold_row(hold: HeldHost) -> dict[str, Any]:
    """Return a hold as companies see it: without the operator and the internal reason."""
    return {
        "since": format_time(hold.held_at),
        "until": format_time(hold.held_until),
        "reason": hold.public_reason or None,
    }


def condition(webhook: Webhook, record: Health, now: datetime, *, host_held: bool) -> str:
    """Return the condition in a word. `host_held`: whether an operator holds the webhook's host."""
    if not (webhook.active and webhook.company.active):
        return "paused"
    if host_held:
        return "held"
    if record.resting_until is not None and record.resting_until > now:
        return "resting" if webhook.is_readable(now) else "unreadable"
    return "failing" if record.failures else "well"


def company_delivery(company: Company, delivery_id: UUID) -> Delivery:
    """Return a company's delivery. Raises Delivery.DoesNotExist, also for other companies'."""
    return company_deliveries(company).select_related("webhook").get(pk=delivery_id)
