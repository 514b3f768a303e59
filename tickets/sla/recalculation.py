"""Recalculates due dates of many tickets: after new targets, and when news of shipments came late.

The rows say what is left to do: an open ticket whose digest is not that of the rules. So it does
not matter who changed them, when a task died, or that a ticket was opened by the rules of before.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial

from django.db import connection, transaction
from django.db.models import Q, QuerySet

from core.jobs import doorbell
from core.jobs.failing_rows import MOST_FAILURES, FailingRows
from shipments.models import Shipment
from tickets.models import HistoryEntry, Ticket
from tickets.sla import policy
from tickets.sla.clocks import filing_due
from tickets.sla.due_dates import set_claim_deadline, set_due_dates, status_path

# As many as are locked at a time: an agent's move waits for no longer than these take.
BATCH = 300
# As many as one run recalculates: a few seconds of work, so that other tasks have their turn.
MOST_AT_ONCE = 3000
NEEDED = (
    "company__plan",
    "type_id",
    "status",
    "shipment_id",
    "carrier_name",
    "filing_due_at",
    "created_at",
    "updated_at",
    "first_responded_at",
    "decided_at",
)
SHIPMENTS = Shipment.objects.only("company_id", "carrier_name", "shipped_at", "delivered_at")
FIELDS = ("first_response_due_at", "resolution_due_at", "due_at", "carrier_name", "filing_due_at")
SAVE = """
UPDATE tickets_ticket AS ticket
SET first_response_due_at = new.first, resolution_due_at = new.resolution, due_at = new.due,
    carrier_name = new.carrier, filing_due_at = new.filing, clock_digest = new.digest
FROM unnest(%s::timestamptz[], %s::timestamptz[], %s::timestamptz[], %s::text[],
            %s::timestamptz[], %s::bigint[], %s::bigint[])
  AS new (first, resolution, due, carrier, filing, digest, id)
WHERE ticket.id = new.id
"""


def rules_changed() -> None:
    """Recalculate all open tickets, once the change of rules is committed."""
    transaction.on_commit(request_recalculation, robust=True)


def request_recalculation() -> None:
    policy.clear_cached_rules()
    doorbell.ring_job("recalculate_stale")


def recalculate_stale() -> int:
    """Recalculate MOST_AT_ONCE open tickets whose due dates follow other rules; returns how many.

    A transaction for some hundreds of them. Several may run at a time.
    """
    rules, rows = policy.load_rules(), FailingRows("recalculate_stale")
    # Those that failed before come last: however many they are, they keep no others waiting.
    failed = [int(key) for _, key in rows.known]
    left = stale(rules).exclude(pk__in=failed) if failed else stale(rules)
    done = recalculate_tickets(left, rules, rows, MOST_AT_ONCE)
    if failed and done < MOST_AT_ONCE:
        again = stale(rules).filter(pk__in=failed)
        done += recalculate_tickets(again, rules, rows, MOST_FAILURES // 2)
    return done


def stale(rules: policy.SLARules) -> QuerySet[Ticket]:
    plans = [plan for plan in rules.digests if plan]
    others = Q(clock_digest=rules.digests[""]) & ~Q(company__plan__in=plans)
    fresh = others
    for plan in plans:
        fresh |= Q(company__plan=plan, clock_digest=rules.digests[plan])
    return Ticket.objects.open().exclude(fresh)


def set_late_claim_deadlines() -> int:
    """Set carriers and filing days of open tickets whose shipment told us only now.

    Of MOST_AT_ONCE and some more at a time; returns how many.
    """
    rules, rows = policy.load_rules(), FailingRows("set_late_claim_deadlines")
    found: list[int] = []
    for chunk in without_claim_deadline(rules):
        tickets = {ticket.pk: ticket for ticket in chunk}

        def look(keys: Sequence[int], known: Mapping[int, Ticket] = tickets) -> None:
            found.extend(news_of([known[key] for key in keys], rules))

        rows.do("ticket", list(tickets), look)
        if len(found) >= MOST_AT_ONCE:
            break
    tickets_with_news = Ticket.objects.open().filter(pk__in=found)
    return recalculate_tickets(tickets_with_news, rules, rows) if found else 0


def without_claim_deadline(rules: policy.SLARules) -> Iterator[list[Ticket]]:
    types = {type_id for _, type_id in rules.filing}
    waiting = (
        Ticket.objects.open()
        .filter(Q(carrier_name="") | Q(type__in=types), filing_due_at=None)
        .exclude(shipment_id=None)
        .only("company_id", "type_id", "shipment_id", "carrier_name")
    )
    last = 0
    while chunk := list(waiting.filter(pk__gt=last).order_by("pk")[:1000]):
        last = chunk[-1].pk
        yield chunk


def news_of(tickets: list[Ticket], rules: policy.SLARules) -> list[int]:
    """Those of them whose shipment says something that they lack."""
    shipments = SHIPMENTS.in_bulk([ticket.shipment_id for ticket in tickets])
    return [
        ticket.pk
        for ticket in tickets
        if (shipment := shipments.get(ticket.shipment_id))
        and shipment.company_id == ticket.company_id
        and has_news_for(shipment, ticket, rules)
    ]


def has_news_for(shipment: Shipment, ticket: Ticket, rules: policy.SLARules) -> bool:
    carrier = ticket.carrier_name or shipment.carrier_name
    filing = rules.filing_of(carrier, ticket.type_id)
    return bool(
        carrier != ticket.carrier_name
        or (filing and filing_due(filing, shipment.shipped_at, shipment.delivered_at))
    )


def recalculate_tickets(
    tickets: QuerySet[Ticket],
    rules: policy.SLARules,
    rows: FailingRows,
    most: int | None = None,
) -> int:
    """Recalculate these, in the order of their ids: whoever locks several takes that order.

    Returns how many. One that fails keeps its due dates.
    """
    left = list(tickets.order_by("pk").values_list("pk", flat=True)[:most])
    return sum(
        rows.do("ticket", left[start : start + BATCH], partial(recalculate_batch, rules=rules))
        for start in range(0, len(left), BATCH)
    )


def recalculate_batch(ids: Sequence[int], rules: policy.SLARules) -> None:
    held = list(
        Ticket.objects.open()
        .filter(pk__in=ids)
        .order_by("pk")
        .select_related("company")
        .only(*NEEDED)
        .select_for_update(of=("self",), no_key=True)
    )
    # After the lock: nobody moves them any more.
    moves = moves_of(held)
    shipments = SHIPMENTS.in_bulk({one.shipment_id for one in held if one.shipment_id})
    for ticket in held:
        shipment = shipments.get(ticket.shipment_id)
        own = shipment if shipment and shipment.company_id == ticket.company_id else None
        set_claim_deadline(ticket, rules, own)
        set_due_dates(ticket, rules, status_path(ticket, moves[ticket.pk]))
    save_due_dates(held)


def moves_of(tickets: Iterable[Ticket]) -> dict[int, list[tuple[int, datetime]]]:
    moves = defaultdict(list)
    rows = HistoryEntry.objects.moves().filter(ticket__in=[ticket.pk for ticket in tickets])
    for ticket_id, status, at in rows.values_list("ticket", "now", "created_at"):
        moves[ticket_id].append((status, at))
    return moves


def save_due_dates(tickets: list[Ticket]) -> None:
    """Neither a change of state nor one that the company sees: no version, no time of update."""
    columns = [
        [getattr(ticket, field) for ticket in tickets] for field in (*FIELDS, "clock_digest", "pk")
    ]
    with connection.cursor() as cursor:
        cursor.execute(SAVE, columns)
