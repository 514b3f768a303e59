"""Desk after years of use: tickets by the million, inserted by SQL."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib.auth.models import User
from django.db import connection

from companies.models import Company
from tickets import agents
from tickets.models import Agent

TYPES = (3, 4, 5)
CARRIERS = ("swift", "tardy", "north", "globe", "atlas", "comet")
# A word of about half of the texts, and one of a few.
COMMON, RARE = "parcel", "zebra"
WORDS = ("late", "torn", "wet", "box", "door", "depot", "driver", "label", "glass", "phone")
BYTES_OF_TICKET = 2_500

# Two in three of the newest 1.5 N tickets are open, which makes N.
TICKETS = """
INSERT INTO tickets_ticket (id, company_id, type_id, status, comments, data, shipment_id, agent_id,
  carrier_name, due_at, resolution_due_at, filing_due_at, decided_at, version, created_at,
  updated_at, clock_digest)
SELECT number,
  (%(companies)s::bigint[])[1 + (number * number %% %(company_count)s) * number
    %% %(company_count)s],
  (%(types)s::int[])[1 + number * 7 %% array_length(%(types)s::int[], 1)],
  CASE WHEN open THEN (ARRAY[1,4,5,6,10])[1 + number / 3 %% 5] ELSE 2 + number / 3 %% 2 END,
  'Ticket ' || number || ': the '
    || CASE WHEN number %% 1000 < 485 THEN %(common)s ELSE 'letter' END || ' was '
    || (%(words)s::text[])[1 + number %% 10] || ' and ' || (%(words)s::text[])[1 + number / 7 %% 10]
    || CASE WHEN number %% 100000 = 7 THEN ' ' || %(rare)s ELSE '' END,
  '{"value": 12.50, "order": "ALT-' || number || '"}',
  CASE WHEN number %% 2 = 0 THEN number END,
  CASE WHEN open AND number %% 20 = 0 THEN NULL
    ELSE (%(agents)s::bigint[])[1 + number * 31 %% array_length(%(agents)s::bigint[], 1)] END,
  (%(carriers)s::text[])[1 + number * 5 %% 6],
  CASE WHEN open AND number / 3 %% 5 <> 1
    THEN now() + ((number * 37 %% 4000) - 400) * interval '1 minute' END,
  CASE WHEN open AND number / 3 %% 5 <> 1
    THEN now() + ((number * 37 %% 4000) - 400) * interval '1 minute' END,
  CASE WHEN open THEN now() + (number * 13 %% 600 - 40) * interval '1 hour' END,
  CASE WHEN NOT open THEN made_at + interval '1 day' END, 2, made_at, made_at + interval '1 hour',
  0
FROM (
  SELECT number, number %% 3 <> 0 AND number > %(tickets)s - %(open)s * 3 / 2 AS open,
    now() - interval '2 years' + number * (interval '2 years' / (%(tickets)s + 1)) AS made_at
  FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS number
) AS made
"""
SHIPMENTS = """
INSERT INTO shipments_shipment
  (id, company_id, tracking_number, carrier_name, status, created_at, heard)
SELECT shipment_id, company_id, 'TRACK' || lpad(shipment_id::text, 9, '0'), carrier_name, 'Created',
  created_at, ''
FROM tickets_ticket
WHERE shipment_id IS NOT NULL AND id BETWEEN %(first)s AND %(last)s
"""
HISTORY = """
INSERT INTO tickets_historyentry
  (ticket_id, by, actor, now, kind, reason, data, public, created_at)
SELECT id, 'company', '', 1, 'opened', '', '{}', true, created_at
FROM tickets_ticket WHERE id BETWEEN %(first)s AND %(last)s
"""
COMMENTS = """
INSERT INTO tickets_comment (ticket_id, by, actor, public, text, status, created_at)
SELECT id, 'company', '', true, 'Any news of the ' || CASE WHEN id %% 4 = 0 THEN %(common)s
  ELSE 'letter' END || ' that was ' || (%(words)s::text[])[1 + id %% 10] || '?', 1, created_at
FROM tickets_ticket WHERE id %% 2 = 1 AND id BETWEEN %(first)s AND %(last)s
"""
# Inserts search entries in place of the disabled trigger: shipments come after their tickets.
ENTRIES = """
SELECT tickets_write_search_entries(
  (SELECT array_agg(number) FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS number))
"""
FILLED = (TICKETS, SHIPMENTS, HISTORY, COMMENTS, ENTRIES)
TABLES = (
    "tickets_searchentry",
    "tickets_ticket",
    "tickets_comment",
    "tickets_historyentry",
    "shipments_shipment",
)
AT_ONCE = 100_000


def fill(tickets: int, open_: int, people: int, companies: int) -> None:
    """Insert all rows, then create the indexes and update the planner's statistics."""
    agent_ids = make_people(people)
    owners = Company.objects.bulk_create(Company(name=f"Company {n}") for n in range(companies))
    parameters = {
        "companies": [company.pk for company in owners],
        "company_count": len(owners),
        "types": list(TYPES),
        "agents": agent_ids,
        "carriers": list(CARRIERS),
        "words": list(WORDS),
        "common": COMMON,
        "rare": RARE,
        "tickets": tickets,
        "open": open_,
    }
    with connection.cursor() as cursor, without_indexes(), without_entries():
        for first in range(1, tickets + 1, AT_ONCE):
            span = {"first": first, "last": min(first + AT_ONCE - 1, tickets)}
            for statement in FILLED:
                cursor.execute(statement, {**parameters, **span})
    with connection.cursor() as cursor:
        cursor.execute("SELECT setval('tickets_ticket_id_seq', %s)", [tickets])
        cursor.execute(f"VACUUM ANALYZE {', '.join(TABLES)}")
        cursor.execute("ANALYZE")


def make_people(count: int) -> list[int]:
    users = User.objects.bulk_create(
        User(username=f"agent{number:03}", is_staff=True) for number in range(count)
    )
    group = agents.group("agent")
    group.user_set.add(*users)
    return [one.pk for one in Agent.objects.bulk_create(Agent(user=user) for user in users)]


@contextmanager
def without_entries() -> Iterator[None]:
    """Disable the trigger that writes search entries of tickets."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE tickets_ticket DISABLE TRIGGER search_entry_of_new")
        yield
        cursor.execute("ALTER TABLE tickets_ticket ENABLE TRIGGER search_entry_of_new")


@contextmanager
def without_indexes() -> Iterator[None]:
    """Drop indexes that are not unique for the time of a block, which speeds up inserts."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index"
            " WHERE indrelid = ANY(%s::regclass[]) AND NOT indisunique",
            [list(TABLES)],
        )
        indexes = cursor.fetchall()
        for name, _ in indexes:
            cursor.execute(f"DROP INDEX {name}")
        yield
        for _, make in indexes:
            cursor.execute(make)
