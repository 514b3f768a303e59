"""Overview on a company's page: its tickets, its webhooks, and counts of both.

Each count uses an index and stops early, so that its cost does not grow with the table.
"""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.contrib.auth.models import AnonymousUser, User
from django.utils import timezone

from companies.models import Company
from core.data.statements import read_rows
from deliveries.monitoring import needs_attention
from deliveries.monitoring.delivery_details import condition_words
from deliveries.monitoring.needs_attention import NeedsAttention
from desk.common.times import midnight
from tickets.models import Ticket

NEWEST = 10
DAYS = 30
# Limits of counts, per status and per DAYS.
MOST_COUNTED, MOST_OF_A_MONTH = 1_000, 10_000

BY_STATUS = """
SELECT one.status, (SELECT count(*) FROM (
  SELECT 1 FROM tickets_ticket WHERE company_id = %(company)s AND status = one.status
  LIMIT %(most)s) AS counted)
FROM unnest(%(statuses)s::smallint[]) AS one(status)
"""
DELIVERIES = """
SELECT one.id, (SELECT count(*) FROM (
  SELECT 1 FROM deliveries_delivery WHERE webhook_id = one.id AND created_at >= %(since)s
  LIMIT %(most)s) AS counted)
FROM unnest(%(webhooks)s::bigint[]) AS one(id)
"""


class WebhookLine(NamedTuple):
    """A webhook, its condition in words, and its deliveries of DAYS, counted to MOST_OF_A_MONTH."""

    attention: NeedsAttention
    condition: str
    deliveries: int


def company_overview(company: Company, user: User | AnonymousUser) -> dict[str, Any]:
    """Return the context that this user may see; the number of queries is constant."""
    now = timezone.now()
    # Begin at midnight in the reader's zone, like the filter of the ticket list.
    first_day = timezone.localdate(now) - timedelta(days=DAYS - 1)
    since = midnight(first_day)
    context: dict[str, Any] = {
        "days": DAYS,
        "first_day": first_day.isoformat(),
        "most": MOST_COUNTED,
        "most_of_a_month": MOST_OF_A_MONTH,
    }
    if user.has_perm("tickets.view_ticket"):
        newest = Ticket.objects.filter(company=company).newest().select_related("type")
        context["statuses"] = count_by_status(company)
        context["newest"] = newest[:NEWEST]
        context["opened"] = count_opened(company, since)
    # Same permissions as for the list of webhooks that need attention.
    if user.has_perms(["webhooks.view_webhook", "deliveries.view_delivery"]):
        context["webhooks"] = webhook_lines(company, now, since)
        context["most_webhooks"] = needs_attention.MOST_SHOWN
        context["most_waiting"] = needs_attention.MOST_COUNTED
    return context


def count_by_status(company: Company) -> list[tuple[int, str, int]]:
    """Count tickets by status as (status, label, count); counts stop at MOST_COUNTED + 1."""
    words = dict(Ticket.STATUSES)
    values: dict[str, Any] = {
        "company": company.pk,
        "statuses": list(words),
        "most": MOST_COUNTED + 1,
    }
    counts = read_rows(BY_STATUS, values)
    return [(status, str(words[status]), count) for status, count in counts]


def count_opened(company: Company, since: datetime) -> int:
    opened = Ticket.objects.filter(company=company, created_at__gte=since).order_by()
    return opened.values("pk")[: MOST_OF_A_MONTH + 1].count()


def webhook_lines(company: Company, now: datetime, since: datetime) -> list[WebhookLine]:
    webhooks = needs_attention.of_company(company, now)
    ids = [one.webhook.pk for one in webhooks]
    values = {"webhooks": ids, "since": since, "most": MOST_OF_A_MONTH + 1}
    counts = dict(read_rows(DELIVERIES, values))
    return [
        WebhookLine(one, condition_words(one.condition), counts[one.webhook.pk]) for one in webhooks
    ]
