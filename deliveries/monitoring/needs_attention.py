"""Webhooks that need attention: failing, resting, or with a growing backlog."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.db.models import QuerySet

from companies.models import Company
from deliveries import statements
from deliveries.models import Health, HeldHost
from deliveries.monitoring import log
from deliveries.monitoring.backlog import LANE
from webhooks.models import Webhook

MOST_SHOWN = 50
MOST_COUNTED = 1_000
# Younger deliveries are on their way and not a backlog.
PATIENCE = timedelta(seconds=60)

# Each webhook with the oldest of its rows.
WAITING_LONGEST = f"""{LANE}
SELECT lane.webhook_id, first.created_at FROM lane CROSS JOIN LATERAL (
  SELECT created_at FROM deliveries_delivery_open
  WHERE webhook_id = lane.webhook_id ORDER BY webhook_id, created_at, event_id LIMIT 1) AS first
WHERE first.created_at < %(before)s
ORDER BY first.created_at LIMIT %(most)s
"""  # noqa: S608 - our own text
COUNTS = """
SELECT one.id, (SELECT count(*) FROM (
  SELECT 1 FROM deliveries_delivery_open WHERE webhook_id = one.id LIMIT %(most)s) AS counted)
FROM unnest(%(webhooks)s::bigint[]) AS one(id)
"""


@dataclass(frozen=True, slots=True)
class NeedsAttention:
    """A webhook and its condition. `waiting` is counted up to MOST_COUNTED."""

    webhook: Webhook
    condition: str
    health: Health
    waiting: int
    oldest: datetime | None
    hold: HeldHost | None


def needing_attention(now: datetime) -> list[NeedsAttention]:
    """Return the MOST_SHOWN webhooks that have waited or failed longest, without deleted ones."""
    oldest = waiting_longest(now - PATIENCE)
    failing = Health.objects.filter(failures__gt=0, webhook__deleted_at=None)
    ids = [*oldest, *failing.order_by("failing_since").values_list("pk", flat=True)[:MOST_SHOWN]]
    webhooks = Webhook.objects.present().filter(pk__in=ids)
    candidates = describe(webhooks.defer("auth_token", "secret", "next_secret"), oldest, now)
    candidates.sort(key=lambda one: min(one.oldest or now, one.health.failing_since or now))
    return candidates[:MOST_SHOWN]


def of_company(company: Company, now: datetime) -> list[NeedsAttention]:
    """Return a company's first MOST_SHOWN webhooks, well or not, in three queries."""
    # The condition of a resting webhook depends on its secrets: deferred, each would be a query.
    webhooks = Webhook.objects.present().filter(company=company).order_by("pk")
    return describe(webhooks[:MOST_SHOWN], {}, now)


def describe(
    webhooks: QuerySet[Webhook], oldest: dict[int, datetime], now: datetime
) -> list[NeedsAttention]:
    rows = list(webhooks.select_related("company", "health"))
    counts = count_waiting_of([webhook.pk for webhook in rows])
    holds = HeldHost.objects.in_force().in_bulk()
    results = []
    for webhook in rows:
        record = getattr(webhook, "health", None) or Health()
        hold = holds.get(webhook.host)
        state = log.condition(webhook, record, now, host_held=hold is not None)
        waiting, since = counts.get(webhook.pk, 0), oldest.get(webhook.pk)
        results.append(NeedsAttention(webhook, state, record, waiting, since, hold))
    return results


def waiting_longest(before: datetime, most: int = MOST_SHOWN) -> dict[int, datetime]:
    """Return the `most` webhooks that have waited longest: oldest waiting delivery by id."""
    with transaction.atomic():
        statements.settle_plans(transaction_only=True)
        with connection.cursor() as cursor:
            cursor.execute(WAITING_LONGEST, {"before": before, "most": most})
            return dict(cursor.fetchall())


def count_waiting_of(webhook_ids: list[int]) -> dict[int, int]:
    with connection.cursor() as cursor:
        cursor.execute(COUNTS, {"webhooks": webhook_ids, "most": MOST_COUNTED})
        return dict(cursor.fetchall())
