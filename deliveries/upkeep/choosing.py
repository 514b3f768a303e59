"""Choice of deliveries to send again: counted first, then walked through a part at a time.

The walk goes webhook by webhook, in the order of events, by the index of each log: no list of all
deliveries is made. Webhooks that are deleted or have no URL, and those of erased companies, are
left out.
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

# Conditions on a delivery besides its webhook. Waiting deliveries have a partition of their own.
CHOSEN = """created_at < %(until)s AND created_at >= coalesce(%(since)s::timestamptz, '-infinity')
  AND state = %(state)s AND archived_on {which} '9999-12-31'"""
COUNT = """
SELECT webhook_id, count(*) FROM deliveries_delivery
WHERE webhook_id = ANY(%(webhooks)s) AND {chosen} GROUP BY webhook_id
"""
# LATERAL looks into the index once for each webhook, whatever the settings of the planner.
WITH_DELIVERIES = """
SELECT own.id FROM unnest(%(webhooks)s::bigint[]) AS own(id) CROSS JOIN LATERAL (
  SELECT FROM deliveries_delivery WHERE webhook_id = own.id AND {chosen} LIMIT 1) AS first
"""

# Webhooks per statement, and statements per part.
PAGE = 1_000
PAGES_AT_ONCE = 10
# Includes the port, if the URL has one.
HOST_IN_URL = Func(F("url"), Value("/"), Value(3), function="split_part", output_field=TextField())


@dataclass(frozen=True, slots=True)
class Choice:
    """Criteria that must all hold; a delivery is created at `since` or later, before `until`."""

    until: datetime
    since: datetime | None = None
    state: State = State.GIVEN_UP
    webhook_id: int | None = None
    company_id: int | None = None
    type_id: int | None = None
    # In the form of `holding.parse_host`.
    host: str = ""


class WaitsFor(StrEnum):
    """Reason why a delivery that is sent again has to wait first."""

    PAUSED = "paused"
    INACTIVE = "inactive"
    HOST_HELD = "held"


@dataclass(slots=True)
class ChosenCount:
    """Number of deliveries in a choice; `deleted`: left out, as their webhook is deleted."""

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
    """Deliveries in the order of sending, and where to go on; `last`: the walk has ended."""

    ids: list[UUID]
    reached: Reached
    last: bool


def count_chosen(choice: Choice, *, show: Callable[[str], None] = lambda text: None) -> ChosenCount:
    """Count the deliveries, a page of webhooks at a time; report the progress to `show`."""
    total = ChosenCount()
    after = 0
    fields = ("pk", "company_id", "company__active", "active", "deleted_at", "host_held")
    webhooks = chosen_webhooks(choice).annotate(host_held=on_held_host())
    while page := list(webhooks.filter(pk__gt=after).values_list(*fields)[:PAGE]):
        after = page[-1][0]
        counts = count_by_webhook(choice, [row[0] for row in page])
        for pk, company_id, company_active, active, deleted_at, host_held in page:
            if not (count := counts.get(pk, 0)):
                continue
            if deleted_at is not None:
                total.deleted += count
                continue
            total.deliveries += count
            total.webhooks += 1
            total.companies.add(company_id)
            if not company_active:
                total.waiting[WaitsFor.INACTIVE] += count
            elif not active:
                total.waiting[WaitsFor.PAUSED] += count
            elif host_held:
                total.waiting[WaitsFor.HOST_HELD] += count
        show(f"{total.deliveries:,} deliveries")
    return total


def next_part(choice: Choice, reached: Reached, most: int) -> NextPart:
    """Return the next `most` deliveries after a place; fewer if many webhooks have none."""
    statements.settle_plans(transaction_only=True)
    ids: list[UUID] = []
    for webhook_id in webhooks_from(choice, reached.webhook):
        if webhook_id is None:
            return NextPart(ids, reached, last=False)
        if webhook_id != reached.webhook:
            reached = Reached(webhook_id)
        rows = deliveries_after(choice, reached, most - len(ids))
        if rows:
            ids += [row.id for row in rows]
            reached = Reached(webhook_id, rows[-1].created_at, rows[-1].event_id)
        if len(ids) == most:
            return NextPart(ids, reached, last=False)
    return NextPart(ids, reached, last=True)


def webhooks_from(choice: Choice, first: int) -> Iterator[int | None]:
    """Yield webhooks with chosen deliveries, from `first` on; None after PAGES_AT_ONCE pages."""
    present = chosen_webhooks(choice).filter(deleted_at=None)
    after = first - 1
    for _ in range(PAGES_AT_ONCE):
        page = list(present.filter(pk__gt=after).values_list("pk", flat=True)[:PAGE])
        yield from webhooks_with_deliveries(choice, page)
        if len(page) < PAGE:
            return
        after = page[-1]
    # The next part goes on after the last webhook that was looked at.
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
    """Match webhooks annotated with `place` that are at one of these hosts, whatever the port."""
    condition = Q(pk=None)
    for host in hosts:
        if ":" in host:
            # An IPv6 address can be written in many ways, and few webhooks have one.
            condition |= Q(pk__in=holding.webhooks_on([host]))
            continue
        for name in holding.spellings(host):
            condition |= Q(place__iexact=name) | Q(place__istartswith=f"{name}:")
    return condition


def on_held_host() -> Case:
    on_hold = at_hosts(each.host for each in holding.held_hosts())
    return Case(When(on_hold, then=Value(True)), default=Value(False), output_field=BooleanField())


def count_by_webhook(choice: Choice, webhook_ids: list[int]) -> dict[int, int]:
    return dict(select(COUNT, choice, webhooks=webhook_ids))


def webhooks_with_deliveries(choice: Choice, webhook_ids: list[int]) -> list[int]:
    return sorted(row[0] for row in select(WITH_DELIVERIES, choice, webhooks=webhook_ids))


def deliveries_after(choice: Choice, reached: Reached, most: int) -> list[redelivery.Passed]:
    first = redelivery.Place(choice.since or BEFORE_ALL)
    place = max(redelivery.Place(reached.time, reached.event), first)
    return redelivery.walk(reached.webhook, [choice.state], place, choice.until, most)


def select(statement: str, choice: Choice, **values: Any) -> list[tuple[Any, ...]]:
    chosen = CHOSEN.format(which="=" if choice.state == State.WAITING else "<")
    values |= {"since": choice.since, "until": choice.until, "state": choice.state.value}
    with connection.cursor() as cursor:
        cursor.execute(statement.format(chosen=chosen), values)
        return list(cursor.fetchall())
