"""Which deliveries are sent again: a choice, counted first, then walked through a part at a time.

Webhook by webhook, and in each in the order of its events, by the index of its log: nothing lists
them all. Webhooks that are deleted or have no URL are left out, and those of erased companies.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection
from django.db.models import BooleanField, Case, F, Func, Q, QuerySet, TextField, Value, When

from deliveries import redelivery, statements
from deliveries.engine import holding
from deliveries.models import State
from deliveries.models.outgoing import BEFORE_ALL
from webhooks.models import Webhook

# What is asked of a delivery beside its webhook. What waits lies in a partition of its own, and all
# else in the others.
CHOSEN = """created_at < %(until)s AND created_at >= coalesce(%(since)s::timestamptz, '-infinity')
  AND state = %(state)s AND archived_on {which} '9999-12-31'"""
COUNT = """
SELECT webhook_id, count(*) FROM deliveries_delivery
WHERE webhook_id = ANY(%(webhooks)s) AND {chosen} GROUP BY webhook_id
"""
# A LATERAL is a look into the index for each webhook, whatever the planner is told.
HAVING_SOME = """
SELECT own.id FROM unnest(%(webhooks)s::bigint[]) AS own(id) CROSS JOIN LATERAL (
  SELECT FROM deliveries_delivery WHERE webhook_id = own.id AND {chosen} LIMIT 1) AS first
"""

# Webhooks looked at in one statement, and in one part.
PAGE = 1_000
PAGES_AT_ONCE = 10
# With its port, if it names one.
HOST_IN_URL = Func(F("url"), Value("/"), Value(3), function="split_part", output_field=TextField())


@dataclass(frozen=True, slots=True)
class Choice:
    """Deliveries for which all of this holds, created at `since` or later and before `until`."""

    until: datetime
    since: datetime | None = None
    state: State = State.GIVEN_UP
    webhook_id: int | None = None
    company_id: int | None = None
    type_id: int | None = None
    # As `holding.parse_host` has it.
    host: str = ""


class WaitsFor(StrEnum):
    """Why what is sent again waits at first."""

    PAUSED = "paused"
    INACTIVE = "inactive"
    HELD = "held"


@dataclass(slots=True)
class ChosenCount:
    """How many deliveries there are in a choice; `deleted` are those that are left out."""

    deliveries: int = 0
    webhooks: int = 0
    deleted: int = 0
    waiting: Counter[WaitsFor] = field(default_factory=Counter)
    companies: set[int] = field(default_factory=set)


class Reached(NamedTuple):
    """The last delivery that a walk has passed."""

    webhook: int = 0
    time: datetime = BEFORE_ALL
    event: int = 0


class NextPart(NamedTuple):
    """Deliveries in the order in which they are sent, and where to go on; `last`: nowhere."""

    ids: list[UUID]
    reached: Reached
    last: bool


def count_chosen(choice: Choice, *, show: Callable[[str], None] = lambda text: None) -> ChosenCount:
    """Count them, a page of webhooks at a time; `show` hears how far it is."""
    found, after = ChosenCount(), 0
    fields = ("pk", "company_id", "company__active", "active", "deleted_at", "held")
    webhooks = chosen_webhooks(choice).annotate(held=on_held_host())
    while page := list(webhooks.filter(pk__gt=after).values_list(*fields)[:PAGE]):
        after = page[-1][0]
        counts = count_by_webhook(choice, [row[0] for row in page])
        for pk, company_id, company_active, active, deleted_at, held in page:
            if not (count := counts.get(pk, 0)):
                continue
            if deleted_at is not None:
                found.deleted += count
                continue
            found.deliveries += count
            found.webhooks += 1
            found.companies.add(company_id)
            if not company_active:
                found.waiting[WaitsFor.INACTIVE] += count
            elif not active:
                found.waiting[WaitsFor.PAUSED] += count
            elif held:
                found.waiting[WaitsFor.HELD] += count
        show(f"{found.deliveries:,} deliveries")
    return found


def next_part(choice: Choice, reached: Reached, most: int) -> NextPart:
    """The deliveries behind a place: `most`, or fewer where many webhooks have none."""
    statements.settle_plans(transaction_only=True)
    ids: list[UUID] = []
    for webhook_id in webhooks_from(choice, reached.webhook):
        if webhook_id is None:
            return NextPart(ids, reached, last=False)
        if webhook_id != reached.webhook:
            reached = Reached(webhook_id)
        rows = deliveries_behind(choice, reached, most - len(ids))
        if rows:
            ids += [row.id for row in rows]
            reached = Reached(webhook_id, rows[-1].created_at, rows[-1].event_id)
        if len(ids) == most:
            return NextPart(ids, reached, last=False)
    return NextPart(ids, reached, last=True)


def webhooks_from(choice: Choice, first: int) -> Iterator[int | None]:
    """Those with deliveries to send, from one on; None where it has looked at enough for once."""
    present = chosen_webhooks(choice).filter(deleted_at=None)
    after = first - 1
    for _ in range(PAGES_AT_ONCE):
        page = list(present.filter(pk__gt=after).values_list("pk", flat=True)[:PAGE])
        yield from having_some(choice, page)
        if len(page) < PAGE:
            return
        after = page[-1]
    # Where it goes on next time is behind what it has looked at.
    yield after
    yield None


def chosen_webhooks(choice: Choice) -> QuerySet[Webhook]:
    webhooks = (
        Webhook.objects.exclude(url="")
        .filter(company__erased_at=None)
        .alias(place=HOST_IN_URL)
        .order_by("pk")
    )
    if choice.webhook_id is not None:
        webhooks = webhooks.filter(pk=choice.webhook_id)
    if choice.company_id is not None:
        webhooks = webhooks.filter(company_id=choice.company_id)
    if choice.type_id is not None:
        webhooks = webhooks.filter(type_id=choice.type_id)
    if choice.host:
        webhooks = webhooks.filter(at_hosts([choice.host]))
    return webhooks


def at_hosts(hosts: Iterable[str]) -> Q:
    """Of webhooks that know their `place`, those at one of these, whatever the port."""
    found = Q(pk=None)
    for host in hosts:
        if ":" in host:
            # There are many ways to write such an address, and few webhooks that have one.
            found |= Q(pk__in=holding.webhooks_on([host]))
            continue
        for name in holding.spellings(host):
            found |= Q(place__iexact=name) | Q(place__istartswith=f"{name}:")
    return found


def on_held_host() -> Case:
    held = at_hosts(each.host for each in holding.held_hosts())
    return Case(When(held, then=Value(True)), default=Value(False), output_field=BooleanField())


def count_by_webhook(choice: Choice, webhook_ids: list[int]) -> dict[int, int]:
    return dict(select(COUNT, choice, webhooks=webhook_ids))


def having_some(choice: Choice, webhook_ids: list[int]) -> list[int]:
    return sorted(row[0] for row in select(HAVING_SOME, choice, webhooks=webhook_ids))


def deliveries_behind(choice: Choice, reached: Reached, most: int) -> list[redelivery.Passed]:
    first = redelivery.Place(choice.since or BEFORE_ALL)
    place = max(redelivery.Place(reached.time, reached.event), first)
    return redelivery.walk(reached.webhook, [choice.state], place, choice.until, most)


def select(statement: str, choice: Choice, **values: Any) -> list[tuple[Any, ...]]:
    chosen = CHOSEN.format(which="=" if choice.state == State.WAITING else "<")
    values |= {"since": choice.since, "until": choice.until, "state": choice.state.value}
    with connection.cursor() as cursor:
        cursor.execute(statement.format(chosen=chosen), values)
        return list(cursor.fetchall())
