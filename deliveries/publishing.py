"""Publishing of events, the only way in: within the transaction that writes the fact."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction

from core.watch import request_ids, traces
from deliveries import doorbell, statements
from deliveries.models import State, SubjectKind
from webhooks.models import Webhook


@dataclass(frozen=True, slots=True)
class News:
    """An event: the report of one fact for one event type."""

    company_id: int
    # The event type's id.
    type: int
    shipment_id: int | None
    tracking_number: str
    body: bytes
    # Set for every event about a ticket. Such events are ordered by ticket, the others by
    # shipment: an event of a ticket that left this out would overtake the ticket's others.
    ticket_id: int | None
    # Id of the fact: pass the same to every event that reports it (decision N3).
    fact_id: UUID = field(default_factory=uuid4)


# Events get their numbers before they are committed, so a higher one may be visible first. A
# publisher therefore announces a lower bound of its numbers before it draws any: a shared advisory
# lock, which ends with the transaction and whose key holds the newest number at that time. It makes
# nobody wait, and the first one of a transaction bounds all that it publishes later. After the tag,
# 48 bits are left for the number. Nothing else locks 64-bit numbers (core/data/locks.py).
LOCK_TAG = 7_303
NEWEST = (
    "SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS number FROM deliveries_event_id_seq"
)
# Reads the number first and the locks second: a transaction with an uncommitted number up to that
# one has its lock by then, and releases it only once others see what it wrote.
SETTLED = f"""
WITH newest AS MATERIALIZED ({NEWEST})
SELECT least(newest.number, (
  SELECT min(((classid::bigint & 65535) << 32) | objid::bigint) FROM pg_locks
  WHERE newest.number IS NOT NULL AND locktype = 'advisory' AND objsubid = 1
    AND mode = 'ShareLock'
    AND classid::bigint >> 16 = {LOCK_TAG} AND pid <> pg_backend_pid()
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())))
FROM newest
"""  # noqa: S608 - our own text

# An event without a listener is not stored. The identity follows the order of the rows, and
# with it the order in which the events of a shipment or ticket are sent (decision W22). A fact's
# place in that order is its first event's.
PUBLISH = f"""
WITH newest AS MATERIALIZED ({NEWEST}), fence AS MATERIALIZED (
  SELECT CASE WHEN coalesce(current_setting('deliveries.publishing', true), '') = ''
    THEN pg_advisory_xact_lock_shared({LOCK_TAG}::bigint << 48 | number)::text
      || set_config('deliveries.publishing', 'on', true)
    ELSE '' END AS up
  FROM newest
), news AS (
  SELECT * FROM json_to_recordset(%s::json) AS n(company_id bigint, type_id smallint,
    shipment_id bigint, ticket_id bigint, tracking_number text, body text, fact_id uuid,
    position integer)
), listener AS (
  SELECT id, company_id, type_id, url <> '' AS sent FROM webhooks_webhook
  WHERE deleted_at IS NULL AND company_id = ANY(%s::bigint[])
), numbered AS MATERIALIZED (
  SELECT nextval('deliveries_event_id_seq') AS id, heard.* FROM (
    SELECT * FROM news
    WHERE (company_id, type_id) IN (SELECT company_id, type_id FROM listener)
    ORDER BY position) AS heard
  WHERE (SELECT up FROM fence) IS NOT NULL
), event AS (
  INSERT INTO deliveries_event (id, company_id, type_id, shipment_id, ticket_id,
    tracking_number, body, created_at, fact_id, sequence, request_id, traceparent)
  SELECT id, company_id, type_id, shipment_id, ticket_id, tracking_number,
    convert_to(body, 'UTF8'), now(), fact_id, min(id) OVER (PARTITION BY fact_id), %s::varchar,
    %s::varchar
  FROM numbered ORDER BY id
  RETURNING id, company_id, type_id, created_at, coalesce(ticket_id, shipment_id) AS subject_id,
    CASE WHEN ticket_id IS NOT NULL THEN {SubjectKind.TICKET}
      WHEN shipment_id IS NOT NULL THEN {SubjectKind.SHIPMENT} END AS subject_kind
), wakeup AS (
  INSERT INTO deliveries_wakeup (webhook_id, due_at)
  SELECT id, statement_timestamp() FROM listener
  WHERE sent AND (company_id, type_id) IN (SELECT company_id, type_id FROM event)
)
INSERT INTO deliveries_delivery
  (id, event_id, webhook_id, subject_id, subject_kind, state, attempts, step, due_at, last_error,
   created_at)
SELECT deliveries_uuid(), event.id, listener.id, event.subject_id, event.subject_kind,
  {State.WAITING}, 0, 0, clock_timestamp(), '', event.created_at
FROM event JOIN listener USING (company_id, type_id) WHERE listener.sent
"""  # noqa: S608 - our own text

HAS_LISTENER = """
SELECT EXISTS (SELECT FROM webhooks_webhook
  WHERE company_id = %s::bigint AND type_id = %s::smallint AND deleted_at IS NULL)
"""


def encode(payload: dict[str, Any]) -> bytes:
    """Encode a body once: the same bytes are stored, signed and sent (decision W10)."""
    text = json.dumps(payload, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode()


def listening_types(company_ids: Collection[int]) -> set[tuple[int, int]]:
    """Return the (company, type) pairs that have a webhook: others need no payload."""
    return set(
        Webhook.objects.present()
        .filter(company_id__in=company_ids)
        .values_list("company_id", "type_id")
        .distinct()
    )


def has_listener(company_id: int, type_id: int) -> bool:
    """Return whether a webhook of the company listens to the type: `listening_types` for one."""
    with statements.cursor() as cursor:
        cursor.execute(HAS_LISTENER, [company_id, type_id])
        (has_listener,) = cursor.fetchone() or (False,)
    return bool(has_listener)


def publish(news: Sequence[News]) -> int:
    """Write an event and its deliveries for each of `news`; return the number of deliveries.

    Call it inside the transaction that writes the fact. A paused webhook gets its deliveries
    too: they wait until it is resumed. One without a URL gets none: its company reads the events.
    """
    if not news:
        return 0
    rows = [
        {
            "company_id": item.company_id,
            "type_id": item.type,
            "shipment_id": item.shipment_id,
            "ticket_id": item.ticket_id,
            "tracking_number": item.tracking_number,
            "body": item.body.decode(),
            "fact_id": str(item.fact_id),
            "position": position,
        }
        for position, item in enumerate(news)
    ]
    with traces.tracer.span("publish", kind="producer"), statements.cursor() as cursor:
        # One JSON text costs a fraction of arrays, which are quoted value by value.
        companies = list({item.company_id for item in news})
        cause = request_ids.current(), traces.tracer.current_parent()
        cursor.execute(PUBLISH, [json.dumps(rows), companies, *cause])
        count = cursor.rowcount
    if count:
        transaction.on_commit(doorbell.ring_engine, robust=True)
    return count


def newest_number() -> int:
    """Return the number of the newest event, committed or not; `settings.NEWEST_EVENT_NUMBER`."""
    return ask_number(NEWEST)


def settled_number() -> int:
    """Return the number up to which the next statement sees all events that there will ever be.

    It stays below the events of any transaction that has published and not ended, and waits for
    nothing else.
    """
    return ask_number(SETTLED)


def ask_number(statement: str) -> int:
    with statements.cursor() as cursor:
        cursor.execute(statement)
        (number,) = cursor.fetchone() or (0,)
        return int(number)
