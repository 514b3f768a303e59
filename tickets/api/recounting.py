"""Counts of long lists, made in a worker."""

from collections.abc import Mapping

from companies.models import Company
from tickets.api import counting, queries
from tickets.api.serializers import ListQuery


def recount(company_id: int, parameters: Mapping[str, str]) -> None:
    """Count a company's list with these query parameters, and cache the counts."""
    query = ListQuery(data=dict(parameters))
    query.is_valid(raise_exception=True)
    company = Company.objects.get(pk=company_id)
    tickets, _ = queries.matching(company, query.validated_data)
    counting.cache_count(company_id, parameters, tickets)
