"""What stands above a company's fields: its tickets, its webhooks and how much it has of each.

Each count stops early and goes through an index, so that it costs as much at a million tickets.
"""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.contrib.auth.models import AnonymousUser, User
from django.utils import timezone

from companies.models import Company
from core.data.statements import read_rows
from deliveries.monitoring import needs_attention
from deliveries.monitoring.needs_attention import NeedsAttention
from desk.common.times import midnight
from desk.support.delivery_details import condition_words
from tickets.models import Ticket

NEWEST = 10
DAYS = 30
# Of each status, and of a month.
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
    """A webhook, how it is in a word, and its deliveries of DAYS, at most one over the most."""

    noted: NeedsAttention
    condition: str
    deliveries: int


def company_overview(company: Company, user: User | AnonymousUser) -> dict[str, Any]:
    """What this person may see of it; the number of queries is always the same."""
    now = timezone.now()
    # From midnight where the reader is, as the list of tickets has it.
    first_day = timezone.localdate(now) - timedelta(days=DAYS - 1)
    since = midnight(first_day)
    shown: dict[str, Any] = {
        "days": DAYS,
        "first_day": first_day.isoformat(),
        "most": MOST_COUNTED,
        "most_of_a_month": MOST_OF_A_MONTH,
    }
    if user.has_perm("tickets.view_ticket"):
        newest = Ticket.objects.filter(company=company).newest().select_related("type")
        shown["statuses"] = count_by_status(company)
        shown["newest"] = newest[:NEWEST]
        shown["opened"] = count_opened(company, since)
    # As for the list of those that need attention.
    if user.has_perms(["webhooks.view_webhook", "deliveries.view_delivery"]):
        shown["webhooks"] = webhook_lines(company, now, since)
        shown["most_webhooks"] = needs_attention.MOST_SHOWN
        shown["most_waiting"] = needs_attention.MOST_COUNTED
    return shown


def count_by_status(company: Company) -> list[tuple[int, str, int]]:
    """Every status with its words and how many tickets are in it, at most one over MOST_COUNTED."""
    words = dict(Ticket.STATUSES)
    values: dict[str, Any] = {
        "company": company.pk,
        "statuses": list(words),
        "most": MOST_COUNTED + 1,
    }
    counted = read_rows(BY_STATUS, values)
    return [(status, str(words[status]), count) for status, count in counted]


def count_opened(company: Company, since: datetime) -> int:
    opened = Ticket.objects.filter(company=company, created_at__gte=since).order_by()
    return opened.values("pk")[: MOST_OF_A_MONTH + 1].count()


def webhook_lines(company: Company, now: datetime, since: datetime) -> list[WebhookLine]:
    found = needs_attention.of_company(company, now)
    ids = [one.webhook.pk for one in found]
    values = {"webhooks": ids, "since": since, "most": MOST_OF_A_MONTH + 1}
    counts = dict(read_rows(DELIVERIES, values))
    return [
        WebhookLine(one, condition_words(one.condition), counts[one.webhook.pk]) for one in found
    ]
