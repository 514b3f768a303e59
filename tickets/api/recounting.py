"""What a worker does for long lists."""

from collections.abc import Mapping

from companies.models import Company
from tickets.api import counting, queries
from tickets.api.serializers import ListQuery


def recount(company_id: int, sent: Mapping[str, str]) -> None:
    """Count the list that a company has asked for with `sent`, and keep that for a while."""
    query = ListQuery(data=dict(sent))
    query.is_valid(raise_exception=True)
    company = Company.objects.get(pk=company_id)
    found, _ = queries.matching(company, query.validated_data)
    counting.keep_count(company_id, sent, found)
