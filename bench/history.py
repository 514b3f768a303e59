"""Weeks of finished deliveries, made by SQL straight into their partitions."""

from datetime import datetime, timedelta

from django.db import connection
from django.utils import timezone
from tqdm import tqdm

# A parcel has so many events, and the last minute of a week is left free, so that what began in
# it has also ended in it.
EVENTS_OF_ONE = 10
WEEK = timedelta(days=7) - timedelta(minutes=1)
AT_ONCE = 100_000
# Of a thousand deliveries so many ended badly.
GIVEN_UP, CANCELLED, PER = 9, 1, 1_000
BODY = b"x" * 100
BYTES_OF_ROW = 1_200

# Everything about a row follows from its number, so that the three tables agree without a join.
ROW = """
SELECT number,
  %(start)s::timestamptz + (number - %(first)s) * %(step)s::interval AS made_at,
  webhook.id AS webhook_id, webhook.company_id, number / %(events)s AS shipment_id,
  CASE WHEN number %% %(per)s < %(given_up)s THEN 2
    WHEN number %% %(per)s < %(given_up)s + %(cancelled)s THEN 3 ELSE 1 END AS state
FROM generate_series(%(from)s, %(to)s) AS number
JOIN unnest(%(webhooks)s::bigint[], %(companies)s::bigint[])
  WITH ORDINALITY AS webhook(id, company_id, turn)
  ON webhook.turn = number / %(events)s %% %(count)s + 1
"""
# As deliveries_uuid() makes them, but of a time gone by.
UUID = """(lpad(to_hex((extract(epoch FROM made_at) * 1000)::bigint), 12, '0') || '70008000'
  || lpad(to_hex(number), 12, '0'))::uuid"""
EVENTS = f"""INSERT INTO {{}}
  (id, company_id, type_id, shipment_id, tracking_number, body, created_at)
SELECT number, company_id, 3, shipment_id, %(word)s || shipment_id, %(body)s, made_at
FROM ({ROW}) AS made ORDER BY number"""  # noqa: S608 - all of it is ours
DELIVERIES = f"""INSERT INTO {{}}
  (id, event_id, webhook_id, shipment_id, state, attempts, step, due_at, first_attempt_at,
   last_status, last_error, created_at, finished_at, archived_on)
SELECT {UUID}, number, webhook_id, shipment_id, state, 1, 0, made_at, made_at,
  CASE WHEN state = 1 THEN 200 ELSE 500 END, '', made_at, made_at + interval '1 second',
  ((made_at + interval '1 second') AT TIME ZONE 'UTC')::date
FROM ({ROW}) AS made ORDER BY number"""  # noqa: S608 - all of it is ours
ATTEMPTS = f"""INSERT INTO {{}}
  (id, delivery_id, number, started_at, duration_ms, url, status, error, detail, answer)
SELECT number, {UUID}, 1, made_at, 20, 'https://hooks.example.com/in',
  CASE WHEN state = 1 THEN 200 ELSE 500 END, '', '', %(answer)s
FROM ({ROW}) AS made ORDER BY number"""  # noqa: S608 - all of it is ours
TABLES = {
    "deliveries_event": EVENTS,
    "deliveries_delivery": DELIVERIES,
    "deliveries_attempt": ATTEMPTS,
}


def oldest(weeks: int) -> datetime:
    """Where so many whole weeks begin, the last of which ended with last Sunday."""
    today = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    return today - timedelta(days=today.weekday(), weeks=weeks)


def fill(
    webhooks: dict[int, int], rows: int, weeks: int, *, word: str = "TRACK", behind: int = 0
) -> None:
    """Spread `rows` deliveries of webhooks (id: company) evenly over the last whole weeks.

    `word` stands in each event and each answer. Events and attempts are numbered from `behind` on.
    """
    begin = oldest(weeks)
    with connection.cursor() as cursor, tqdm(total=rows, desc="history", disable=None) as bar:
        cursor.execute("SELECT deliveries_make_partitions(%s, %s)", [begin.date(), weeks])
        for week in range(weeks):
            start = begin + timedelta(weeks=week)
            first, after = rows * week // weeks, rows * (week + 1) // weeks
            values = {**parameters(webhooks), "start": start, "first": behind + first}
            values |= {"word": word, "answer": f"{word} ok"}
            values["step"] = WEEK / max(1, after - first)
            for lowest in range(behind + first, behind + after, AT_ONCE):
                highest = min(lowest + AT_ONCE, behind + after) - 1
                for table, statement in TABLES.items():
                    partition = f"{table}_{start:%Y%m%d}"
                    chunk = {"from": lowest + 1, "to": highest + 1}
                    cursor.execute(statement.format(partition), {**values, **chunk})
                bar.update(highest - lowest + 1)
        for table in ("deliveries_event", "deliveries_attempt"):
            cursor.execute(
                f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), {behind + rows + 1})"
            )


def parameters(webhooks: dict[int, int]) -> dict[str, object]:
    return {
        "webhooks": list(webhooks),
        "companies": list(webhooks.values()),
        "count": len(webhooks),
        "events": EVENTS_OF_ONE,
        "given_up": GIVEN_UP,
        "cancelled": CANCELLED,
        "per": PER,
        "body": BODY,
    }
