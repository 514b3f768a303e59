"""The events of a webhook, oldest first, for a company that reads them itself (decision N6).

Events are read in the order of their numbers, and never beyond a number below which another could
still be committed (`publishing.settled_number`). A cursor names the last event that was read, or,
if there was none for long, the newest of any company: while that event is stored, no later one has
been pruned, and the database has not been restored to a time before it.
"""

from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID, uuid5

from django.utils import timezone

from core.api import sealed_cursors
from core.api.answer_sizes import MOST_OF_ROWS
from core.api.sealed_cursors import EPOCH, ReadPlace
from core.data.encryption import UnreadableSecret
from deliveries import publishing, statements
from deliveries.engine.loans import Headers
from deliveries.engine.rendering import plain_headers, signed_headers
from webhooks.event_types import EventType, registry
from webhooks.models import Webhook

TIME_FORMAT = "%Y-%m-%d %H:%M:%S"
# Kind of these cursors: those of other lists are refused.
STREAM = "stream"
# Age at which a cursor in use moves up, so that only cursors out of use expire.
CURSOR_AGE = timedelta(days=1)

HAS_NEWS = """
SELECT EXISTS (SELECT FROM deliveries_event
  WHERE company_id = %(company)s AND type_id = %(type)s AND id > %(after)s)
"""
IS_STORED = "SELECT EXISTS (SELECT FROM deliveries_event WHERE id = %s AND created_at = %s)"
NEWEST = "SELECT id, created_at FROM deliveries_event WHERE id <= %s ORDER BY id DESC LIMIT 1"
# A delivery is as old as its event.
FIRST_DELIVERY = """
SELECT created_at FROM deliveries_delivery WHERE webhook_id = %s
ORDER BY webhook_id, created_at LIMIT 1
"""
# Reads events as a claim does: one stored by a version without facts is its own fact. An answer is
# bounded before bodies are read; a body in JSON is at most twice as long.
EVENTS = """
SELECT id, created_at, sequence, body, fact_id, delivery_id, now FROM (
SELECT found.*, row_number() OVER (ORDER BY id) AS place,
  sum(1000 + 2 * octet_length(body)) OVER (ORDER BY id) AS up_to FROM (
SELECT event.id, event.created_at, coalesce(sequence, event.id) AS sequence, body,
  coalesce(fact_id, lpad(to_hex(event.id), 32, '0')::uuid)::text AS fact_id,
  {id} AS delivery_id, statement_timestamp() AS now
FROM deliveries_event AS event {deliveries}
WHERE company_id = %(company)s AND type_id = %(type)s AND event.id > %(after)s
  AND event.id <= %(settled)s AND event.created_at >= %(since)s
ORDER BY event.id LIMIT %(limit)s
) AS found) AS measured WHERE up_to <= %(bytes)s OR place = 1 ORDER BY id
"""
DELIVERIES = """
CROSS JOIN LATERAL (
  SELECT id FROM deliveries_delivery
  WHERE webhook_id = %(webhook)s AND created_at = event.created_at AND event_id = event.id
  LIMIT 1) AS delivery
"""
SENT_EVENTS = EVENTS.format(id="delivery.id::text", deliveries=DELIVERIES)
FETCHED_EVENTS = EVENTS.format(id="NULL", deliveries="")


class UnknownCursor(ValueError):
    """The text is not a cursor from a page of a stream."""

    def __init__(self) -> None:
        super().__init__("This is not a valid cursor for this list.")


class ExpiredCursor(Exception):
    """The event that the cursor names is no longer stored, and later ones may be gone too."""

    def __init__(self) -> None:
        super().__init__(
            "This cursor is too old: events behind it may have been deleted. Begin again without"
            " `after`, and skip what you have by its `id`."
        )


class CannotSign(Exception):
    """The headers cannot be signed, by our own fault; the message says what to do."""


class StreamEvent(NamedTuple):
    """An event as the webhook's company reads it. `id`: its X-Webhook-Id."""

    place: ReadPlace
    id: str
    fact_id: str
    sequence: int
    body: bytes
    now: datetime


BEGINNING = ReadPlace(0, EPOCH)


def read_events(
    webhook: Webhook, *, limit: int, after: str | None = None
) -> tuple[list[dict[str, Any]], str]:
    """Return up to `limit` events after a cursor, as many as fit an answer, and the next cursor.

    Raises UnknownCursor, ExpiredCursor and CannotSign.
    """
    company_id = webhook.company_id
    place = place_in(after, company_id) if after else BEGINNING
    if place is not BEGINNING and not select_value(IS_STORED, list(place)):
        raise ExpiredCursor
    begin = max(place.number, webhook.begins_after)
    is_recent = timezone.now() - place.time < CURSOR_AGE
    if is_recent and not select_value(HAS_NEWS, {**event_filter(webhook), "after": begin}):
        return [], sealed_cursors.seal_place(place, STREAM, company_id)
    settled = publishing.settled_number()
    events = events_after(webhook, begin, settled, limit, at_first=place is BEGINNING)
    end = events[-1].place if events else max(place, newest_place(settled))
    return rows(webhook, events), sealed_cursors.seal_place(end, STREAM, company_id)


def place_in(cursor: str, company_id: int) -> ReadPlace:
    """Return the place of a cursor. Raises UnknownCursor."""
    try:
        place = sealed_cursors.open_place(cursor, STREAM, company_id)
    except sealed_cursors.UnreadableCursor as error:
        raise UnknownCursor from error
    return BEGINNING if place == BEGINNING else place


def events_after(
    webhook: Webhook, after: int, settled: int, limit: int, *, at_first: bool
) -> list[StreamEvent]:
    since = EPOCH
    if at_first and not webhook.fetched:
        # Older events of the type were for other webhooks; there may be a million.
        since = select_value(FIRST_DELIVERY, [webhook.pk])
        if since is None:
            return []
    values = {
        **event_filter(webhook),
        "webhook": webhook.pk,
        "after": after,
        "settled": settled,
        "since": since,
        "limit": limit,
        "bytes": MOST_OF_ROWS,
    }
    with statements.cursor() as cursor:
        cursor.execute(FETCHED_EVENTS if webhook.fetched else SENT_EVENTS, values)
        return [to_event(webhook, *columns) for columns in cursor.fetchall()]


def to_event(
    webhook: Webhook,
    number: int,
    time: datetime,
    sequence: int,
    body: bytes,
    fact_id: str,
    delivery_id: str | None,
    now: datetime,
) -> StreamEvent:
    id = delivery_id or str(uuid5(UUID(fact_id), f"{webhook.pk}.{number}"))
    return StreamEvent(ReadPlace(number, time), id, fact_id, sequence, bytes(body), now)


def rows(webhook: Webhook, events: list[StreamEvent]) -> list[dict[str, Any]]:
    """Return the events as rows, with the headers that a delivery at this moment would carry."""
    if not events:
        return []
    event_type = registry.get(webhook.type_id)
    if event_type is None:
        raise CannotSign("Events of this type cannot be read at present. Try again later.")
    secret = signing_secret(webhook, event_type, events[0].now)
    return [
        {
            "id": event.id,
            "event_id": event.fact_id,
            "event": event_type.name,
            "sequence": event.sequence,
            "created_at": event.place.time.strftime(TIME_FORMAT),
            "headers": dict(headers(webhook, event, event_type, secret)),
            "body": event.body.decode(),
        }
        for event in events
    ]


def signing_secret(webhook: Webhook, event_type: EventType, now: datetime) -> str | None:
    if not event_type.signed:
        return None
    try:
        return webhook.signing_secret(now)
    except UnreadableSecret as error:
        raise CannotSign(
            "We can no longer read this webhook's secret. Make a new one with"
            f" POST /webhooks/{webhook.pk}/secret."
        ) from error


def headers(
    webhook: Webhook, event: StreamEvent, event_type: EventType, secret: str | None
) -> Headers:
    """Return the headers without Authorization, which is the receiver's own."""
    result = plain_headers(None)
    if secret:
        standard = webhook.standard_headers
        result += signed_headers(event, event_type.name, secret, event.now, standard=standard)
    return result


def newest_place(settled: int) -> ReadPlace:
    """Return the place of the newest settled event of any company."""
    with statements.cursor() as cursor:
        cursor.execute(NEWEST, [settled])
        row = cursor.fetchone()
    return ReadPlace(*row) if row else BEGINNING


def event_filter(webhook: Webhook) -> dict[str, int]:
    """Return the parameters that select the events of a webhook: its company and type."""
    return {"company": webhook.company_id, "type": webhook.type_id}


def select_value(statement: str, values: Any) -> Any:
    """Return the single value that a statement selects, or None."""
    with statements.cursor() as cursor:
        cursor.execute(statement, values)
        row = cursor.fetchone()
        return row and row[0]
