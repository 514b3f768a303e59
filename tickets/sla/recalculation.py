"""Recalculation of due dates of many tickets, after changes of rules and late data of shipments.

Open tickets whose digest differs from that of the rules are still to do. It therefore does not
matter who changed the rules, whether a job was killed, or under which rules a ticket was created.
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

# Tickets locked at a time; an agent's move waits for a batch at most.
BATCH = 300
# Tickets per run: a few seconds of work, so that other jobs have their turn.
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
    """Recalculate open tickets after the change of rules is committed."""
    transaction.on_commit(request_recalculation, robust=True)


def request_recalculation() -> None:
    policy.clear_cached_rules()
    doorbell.ring_job("recalculate_stale")


def recalculate_stale() -> int:
    """Recalculate up to MOST_AT_ONCE open tickets with other rules; returns their number.

    Uses a transaction per BATCH, and may run concurrently.
    """
    rules, rows = policy.load_rules(), FailingRows("recalculate_stale")
    # Tickets that failed before come last, so that they cannot block others.
    failed = [int(key) for _, key in rows.earlier_failures]
    tickets = stale(rules).exclude(pk__in=failed) if failed else stale(rules)
    count = recalculate_tickets(tickets, rules, rows, MOST_AT_ONCE)
    if failed and count < MOST_AT_ONCE:
        again = stale(rules).filter(pk__in=failed)
        count += recalculate_tickets(again, rules, rows, MOST_FAILURES // 2)
    return count


def stale(rules: policy.SLARules) -> QuerySet[Ticket]:
    plans = [plan for plan in rules.digests if plan]
    others = Q(clock_digest=rules.digests[""]) & ~Q(company__plan__in=plans)
    fresh = others
    for plan in plans:
        fresh |= Q(company__plan=plan, clock_digest=rules.digests[plan])
    return Ticket.objects.open().exclude(fresh)


def set_late_claim_deadlines() -> int:
    """Set carriers and claim deadlines of open tickets whose shipment's data came later.

    Handles MOST_AT_ONCE tickets and up to a chunk more; returns their number.
    """
    rules, rows = policy.load_rules(), FailingRows("set_late_claim_deadlines")
    ids: list[int] = []
    for chunk in without_claim_deadline(rules):
        tickets = {ticket.pk: ticket for ticket in chunk}

        def collect_ids(keys: Sequence[int], by_id: Mapping[int, Ticket] = tickets) -> None:
            ids.extend(ids_with_changes([by_id[key] for key in keys], rules))

        rows.do("ticket", list(tickets), collect_ids)
        if len(ids) >= MOST_AT_ONCE:
            break
    outdated = Ticket.objects.open().filter(pk__in=ids)
    return recalculate_tickets(outdated, rules, rows) if ids else 0


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


def ids_with_changes(tickets: list[Ticket], rules: policy.SLARules) -> list[int]:
    """Return the ids of tickets whose shipment has a carrier or deadline that they lack."""
    shipments = SHIPMENTS.in_bulk([ticket.shipment_id for ticket in tickets])
    return [
        ticket.pk
        for ticket in tickets
        if (shipment := shipments.get(ticket.shipment_id))
        and shipment.company_id == ticket.company_id
        and changes_deadline(shipment, ticket, rules)
    ]


def changes_deadline(shipment: Shipment, ticket: Ticket, rules: policy.SLARules) -> bool:
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
    """Recalculate tickets in the order of their ids, which all locks of several tickets follow.

    Returns their number. A ticket that fails keeps its due dates.
    """
    ids = list(tickets.order_by("pk").values_list("pk", flat=True)[:most])
    return sum(
        rows.do("ticket", ids[start : start + BATCH], partial(recalculate_batch, rules=rules))
        for start in range(0, len(ids), BATCH)
    )


def recalculate_batch(ids: Sequence[int], rules: policy.SLARules) -> None:
    tickets = list(
        Ticket.objects.open()
        .filter(pk__in=ids)
        .order_by("pk")
        .select_related("company")
        .only(*NEEDED)
        .select_for_update(of=("self",), no_key=True)
    )
    # Read after the lock, so that no move is missed.
    moves = moves_of(tickets)
    shipments = SHIPMENTS.in_bulk({one.shipment_id for one in tickets if one.shipment_id})
    for ticket in tickets:
        shipment = shipments.get(ticket.shipment_id)
        own = shipment if shipment and shipment.company_id == ticket.company_id else None
        set_claim_deadline(ticket, rules, own)
        set_due_dates(ticket, rules, status_path(ticket, moves[ticket.pk]))
    save_due_dates(tickets)


def moves_of(tickets: Iterable[Ticket]) -> dict[int, list[tuple[int, datetime]]]:
    moves = defaultdict(list)
    rows = HistoryEntry.objects.moves().filter(ticket__in=[ticket.pk for ticket in tickets])
    for ticket_id, status, at in rows.values_list("ticket", "now", "created_at"):
        moves[ticket_id].append((status, at))
    return moves


def save_due_dates(tickets: list[Ticket]) -> None:
    """Save due dates without a new version or `updated_at`, as the company sees no change."""
    columns = [
        [getattr(ticket, field) for ticket in tickets] for field in (*FIELDS, "clock_digest", "pk")
    ]
    with connection.cursor() as cursor:
        cursor.execute(SAVE, columns)
