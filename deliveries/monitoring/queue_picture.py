"""Overview of the queue, in statements that stay cheap however long it is.

Counting stops at bounds and says so: a page refreshed every few seconds must not become the load.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from django.db import connection, transaction
from django.utils import timezone

from deliveries import statements
from deliveries.models import Delivery, Health, HeldHost, Loop
from deliveries.monitoring import backlog
from deliveries.monitoring.needs_attention import waiting_longest
from webhooks.models import Webhook

GROUPS = ("webhook", "host", "company")
# Stands for the host of webhooks without a URL.
FETCHED = "fetched"
# Webhooks that are grouped by host or company: those that have waited longest.
MOST_GROUPED = 1_000
MOST_DUE = 20_000
# Rows that are counted for all webhooks together.
MOST_ROWS = 50_000
MOST_PAUSED = 10_000

# Due rows, from the oldest of each webhook on. A claim leaves its row due, so rows in flight are
# included.
DUE = f"""{backlog.WOKEN}
SELECT count(*), count(*) FILTER (WHERE claimed_until > statement_timestamp()) FROM (
  SELECT first.claimed_until FROM woken
  CROSS JOIN (VALUES (0), (1)) AS turn(again)
  CROSS JOIN LATERAL (
    SELECT claimed_until FROM deliveries_delivery_open
    WHERE webhook_id = woken.webhook_id AND least(step, 1) = turn.again
      AND due_at BETWEEN woken.since AND statement_timestamp()
    ORDER BY due_at LIMIT %(each)s) AS first
  LIMIT %(most)s) AS counted
"""  # noqa: S608 - our own text
MOST_OF_A_LANE = 2_000
OF_EACH = """
SELECT one.id, count(found.due_at),
  count(*) FILTER (WHERE found.due_at <= statement_timestamp()),
  count(*) FILTER (WHERE found.claimed_until > statement_timestamp())
FROM unnest(%(webhooks)s::bigint[]) AS one(id) LEFT JOIN LATERAL (
  SELECT due_at, claimed_until FROM deliveries_delivery_open WHERE webhook_id = one.id
  ORDER BY webhook_id, least(step, 1), due_at LIMIT %(most)s) AS found ON true
GROUP BY one.id
"""
# Each attempt takes a number when it is recorded: the newest number counts them without a scan.
ATTEMPTS = """
SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('deliveries_attempt', 'id')), 0),
  extract(epoch FROM clock_timestamp())::float8
"""


class Mark(NamedTuple):
    """Number of attempts recorded up to a moment of the database's clock."""

    attempts: int
    at: float


@dataclass(slots=True)
class Totals:
    """Totals of the queue. `due` includes `in_flight`; `due_cut`: `due` is a lower bound."""

    waiting: int
    due: int
    due_cut: bool
    in_flight: int
    resting_webhooks: int
    paused_webhooks: int
    held_hosts: int
    loops: int
    hosts: int
    attempts_per_second: float | None = None


@dataclass(slots=True)
class WaitingGroup:
    """A webhook, host or company with deliveries waiting; `cut`: its counts are lower bounds."""

    name: str
    webhooks: list[int] = field(default_factory=list)
    waiting: int = 0
    cut: bool = False
    due: int = 0
    in_flight: int = 0
    oldest: datetime | None = None
    condition: str = ""

    def as_data(self) -> dict[str, Any]:
        return asdict(self)


def attempts_mark() -> Mark:
    with connection.cursor() as cursor:
        cursor.execute(ATTEMPTS)
        return Mark(*cursor.fetchone())


def rate_between(before: Mark | None, now: Mark) -> float | None:
    """Return the attempts per second; None if there is nothing to compare with."""
    if before is None or now.at <= before.at:
        return None
    return max(0, now.attempts - before.attempts) / (now.at - before.at)


def queue_totals() -> Totals:
    with transaction.atomic():
        statements.settle_plans(transaction_only=True)
        with connection.cursor() as cursor:
            values = {"woken": backlog.MOST_WOKEN, "each": MOST_OF_A_LANE, "most": MOST_DUE}
            cursor.execute(DUE, values)
            due, in_flight = cursor.fetchone()
    alive = Loop.objects.filter(heartbeat__lease_until__gt=timezone.now())
    loops = list(alive.values_list("host", flat=True))
    paused = Webhook.objects.present().filter(active=False)
    return Totals(
        waiting=backlog.count_waiting(),
        due=due,
        due_cut=due >= MOST_DUE,
        in_flight=in_flight,
        resting_webhooks=backlog.count_unwell().resting,
        paused_webhooks=len(paused.values_list("pk", flat=True)[:MOST_PAUSED]),
        held_hosts=HeldHost.objects.in_force().count(),
        loops=len(loops),
        hosts=len(set(loops)),
    )


def oldest_waiting(by: str, limit: int) -> list[WaitingGroup]:
    """Return the groups that have waited longest, longest first; `by` is one of GROUPS."""
    now = timezone.now()
    oldest = waiting_longest(now, limit if by == "webhook" else MOST_GROUPED)
    hidden = ("auth_token", "secret", "next_secret")
    webhooks = Webhook.objects.filter(pk__in=oldest).select_related("company").defer(*hidden)
    groups: dict[str, WaitingGroup] = {}
    for webhook in webhooks:
        name = group_name(webhook, by)
        group = groups.setdefault(name, WaitingGroup(name))
        group.webhooks.append(webhook.pk)
        group.oldest = min(group.oldest or now, oldest[webhook.pk])
    longest = sorted(groups.values(), key=lambda one: one.oldest or now)[:limit]
    count_rows(longest)
    add_conditions(longest, {webhook.pk: webhook for webhook in webhooks}, now)
    return longest


def waiting_of(webhooks: Mapping[int, str]) -> dict[str, WaitingGroup]:
    """Return what waits for webhooks, grouped by their given names; `oldest` stays None."""
    groups: dict[str, WaitingGroup] = {}
    for webhook, name in webhooks.items():
        groups.setdefault(name, WaitingGroup(name)).webhooks.append(webhook)
    count_rows(list(groups.values()))
    return groups


def group_name(webhook: Webhook, by: str) -> str:
    if by == "company":
        return f"{webhook.company_id} {webhook.company.name}"
    host = urlsplit(webhook.url).netloc or FETCHED
    return host if by == "host" else f"{webhook.pk} {host}"


def count_rows(groups: list[WaitingGroup]) -> None:
    ids = [webhook for group in groups for webhook in group.webhooks]
    most = max(1, MOST_ROWS // max(1, len(ids)))
    with transaction.atomic():
        statements.settle_plans(transaction_only=True)
        with connection.cursor() as cursor:
            cursor.execute(OF_EACH, {"webhooks": ids, "most": most})
            counts_by_id = {id: counts for id, *counts in cursor.fetchall()}
    for group in groups:
        for webhook in group.webhooks:
            waiting, due, in_flight = counts_by_id.get(webhook, (0, 0, 0))
            group.waiting += waiting
            group.due += due
            group.in_flight += in_flight
            group.cut |= waiting >= most


def add_conditions(groups: list[WaitingGroup], webhooks: dict[int, Webhook], now: datetime) -> None:
    ids = [webhook for group in groups for webhook in group.webhooks]
    health = Health.objects.in_bulk(ids)
    holds = HeldHost.objects.in_force().in_bulk()
    aside = Delivery.objects.set_aside().filter(webhook__in=ids)
    set_aside = Counter(aside.values_list("webhook_id", flat=True))
    for group in groups:
        counts: dict[str, int] = defaultdict(int)
        for webhook in group.webhooks:
            one = webhooks[webhook]
            host_held = one.host in holds
            counts[brief_condition(one, health.get(webhook), now, host_held=host_held)] += 1
        several = len(group.webhooks) > 1
        group.condition = ", ".join(condition_texts(counts, several))
        if number := sum(set_aside[webhook] for webhook in group.webhooks):
            group.condition += f", {number} set aside"


def brief_condition(
    webhook: Webhook, health: Health | None, now: datetime, *, host_held: bool
) -> str:
    if not (webhook.active and webhook.company.active):
        return "paused"
    if host_held:
        return "held"
    if health is None or not health.failures:
        return "well"
    resting = health.resting_until is not None and health.resting_until > now
    return "resting" if resting else "failing"


def condition_texts(counts: dict[str, int], several: bool) -> Iterable[str]:
    for condition, count in sorted(counts.items()):
        yield f"{count} {condition}" if several else condition
