"""Summaries of companies, read in batches of a few hundred."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, QuerySet

from companies.models import ApiToken, Company
from deliveries.monitoring.needs_attention import MOST_COUNTED, count_waiting_of
from tickets.models import Ticket
from webhooks.models import Webhook

STEP = 500


@dataclass(frozen=True, slots=True)
class CompanyGlance:
    """Summary of a company. `waiting_cut` means that a webhook has MOST_COUNTED or more waiting."""

    company: Company
    webhooks_active: int
    webhooks_paused: int
    open_tickets: int
    waiting: int
    waiting_cut: bool
    last_used_at: datetime | None


def company_glances(
    *, inactive: bool = False, search: str = "", limit: int | None = None
) -> Iterator[CompanyGlance]:
    """Summarize companies whose name contains `search`, by id; `inactive` omits active ones."""
    chosen = Company.objects.order_by("pk")
    if inactive:
        chosen = chosen.filter(active=False)
    if search:
        chosen = chosen.filter(name__icontains=search)
    remaining, last = limit, 0
    while remaining is None or remaining > 0:
        step = STEP if remaining is None else min(STEP, remaining)
        companies = list(chosen.filter(pk__gt=last)[:step])
        yield from glances_of(companies)
        if len(companies) < step:
            return
        last = companies[-1].pk
        remaining = None if remaining is None else remaining - step


def glances_of(companies: list[Company]) -> Iterator[CompanyGlance]:
    ids = [company.pk for company in companies]
    present = Webhook.objects.present().filter(company_id__in=ids)
    webhooks = defaultdict(list)
    for pk, company_id, active in present.values_list("pk", "company_id", "active"):
        webhooks[company_id].append((pk, active))
    waiting = count_waiting_of([pk for own in webhooks.values() for pk, _ in own])
    tickets = per_company(Ticket.objects.open(), ids, Count("pk"))
    used = per_company(ApiToken.objects.all(), ids, Max("last_used_at"))
    for company in companies:
        own = webhooks[company.pk]
        working = sum(active for _, active in own)
        counts = [waiting.get(pk, 0) for pk, _ in own]
        yield CompanyGlance(
            company=company,
            webhooks_active=working,
            webhooks_paused=len(own) - working,
            open_tickets=tickets.get(company.pk, 0),
            waiting=sum(counts),
            waiting_cut=MOST_COUNTED in counts,
            last_used_at=used.get(company.pk),
        )


def per_company(rows: QuerySet[Any], ids: list[int], figure: Count | Max) -> dict[int, Any]:
    grouped = rows.filter(company_id__in=ids).order_by().values_list("company_id")
    return dict(grouped.annotate(figure=figure))
