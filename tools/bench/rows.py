"""Waiting deliveries by the hundred thousand, inserted by SQL as publishing would."""

from collections.abc import Sequence

from django.db import connection, transaction

from companies.models import Company
from deliveries.models import State
from shipments.event_types.status import TRACKING_SIMPLE
from tools.bench.bodies import body
from webhooks.models import Webhook
from webhooks.services import make_secret

TABLES = "deliveries_event, deliveries_delivery, deliveries_attempt, deliveries_wakeup"
WAITING = """
WITH webhook AS (
  SELECT id, company_id, row_number() OVER (ORDER BY id) - 1 AS turn
  FROM webhooks_webhook WHERE id = ANY(%(webhooks)s)
), event AS (
  INSERT INTO deliveries_event
    (company_id, type_id, shipment_id, tracking_number, body, created_at)
  SELECT webhook.company_id, 3, number, 'TRACK' || number, %(body)s, now()
  FROM generate_series(1, %(size)s) AS number
  JOIN webhook ON webhook.turn = (number - 1) %% %(count)s
  RETURNING id, company_id, shipment_id, created_at
)
INSERT INTO deliveries_delivery
  (id, event_id, webhook_id, subject_id, subject_kind, state, attempts, step, due_at,
   last_error, created_at)
SELECT deliveries_uuid(), event.id, webhook.id, event.shipment_id, 1, 0, 0, 0,
  clock_timestamp(), '', event.created_at
FROM event JOIN webhook USING (company_id)
"""
WAKE = """
INSERT INTO deliveries_wakeup (webhook_id, due_at)
SELECT webhook_id, min(due_at) FROM deliveries_delivery_open WHERE {condition}
GROUP BY webhook_id
"""


@transaction.atomic
def wait(webhook_ids: Sequence[int], size: int) -> int:
    """Insert `size` due deliveries, the webhooks in turn, each of a shipment of its own."""
    with connection.cursor() as cursor:
        # Undo the tuning of the engine's connections: this is a bulk load.
        cursor.execute("SET LOCAL statement_timeout = 0; SET LOCAL enable_hashjoin = on")
        values = {"webhooks": list(webhook_ids), "count": len(webhook_ids), "size": size}
        cursor.execute(WAITING, {**values, "body": body(0)})
        deliveries = cursor.rowcount
    wake("webhook_id = ANY(%(webhooks)s)", {"webhooks": list(webhook_ids)})
    return deliveries


def wake(condition: str, values: dict[str, object]) -> None:
    """Write the wake-ups of these deliveries, as is required of all code that makes one due."""
    with connection.cursor() as cursor:
        cursor.execute(WAKE.format(condition=condition), values)


@transaction.atomic
def webhooks(how_many: int) -> list[int]:
    """Create webhooks that nothing is sent to, each of a company of its own; return their ids."""
    companies = Company.objects.bulk_create(
        Company(name=f"Company {number}") for number in range(how_many)
    )
    hooks = Webhook.objects.bulk_create(
        Webhook(
            company=company,
            type_id=TRACKING_SIMPLE.id,
            url="https://hooks.example.com/in",
            secret=make_secret(),
        )
        for company in companies
    )
    return [webhook.pk for webhook in hooks]


def count_by_state() -> dict[State, int]:
    """Count all deliveries by state."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        cursor.execute("SELECT state, count(*) FROM deliveries_delivery GROUP BY state")
        return {State(state): count for state, count in cursor.fetchall()}


def analyze(*, vacuum: bool = False) -> None:
    """Update the planner's statistics, as autovacuum does some time after changes."""
    with connection.cursor() as cursor:
        cursor.execute(f"{'VACUUM ' if vacuum else ''}ANALYZE {TABLES}")


def fake_empty_statistics() -> None:
    """Give the planner the statistics of an autovacuum that ran while the queue was empty.

    The queue keeps its pages, and for up to a minute after it has filled up again statements are
    planned as if it held no rows.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE pg_class SET relpages = 1000, reltuples = 0"
            " WHERE oid = 'deliveries_delivery_open'::regclass"
        )


def forget() -> None:
    """Empty the tables of events, deliveries, attempts and wake-ups."""
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {TABLES}")
