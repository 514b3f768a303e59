"""The desk's data about a company, registered for erasure (companies.erasing)."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote_plus

from django.db.models import Q

from companies import erasing
from companies.models import Company
from core.data.statements import read_rows
from desk.models import SavedView

LOG_STEP = 2_000

# A part of Django's admin log by id, and its entries about the company or its objects.
LOG_PART = (
    "SELECT max(id) FROM (SELECT id FROM django_admin_log WHERE id > %s ORDER BY id LIMIT %s) s"
)
LOGGED = """
WITH part AS (
  SELECT entry.id, model, object_id FROM django_admin_log AS entry
  JOIN django_content_type AS type ON type.id = content_type_id
  WHERE entry.id > %(after)s AND entry.id <= %(last)s
    AND (object_repr, change_message) <> ('', '')
), numbered AS (
  SELECT id, model, object_id::bigint AS of FROM part WHERE object_id ~ '^[0-9]{1,18}$'
)
SELECT id FROM numbered WHERE CASE model
  WHEN 'company' THEN of = %(company)s
  WHEN 'webhook' THEN of IN (SELECT id FROM webhooks_webhook WHERE company_id = %(company)s)
  WHEN 'health' THEN of IN (SELECT id FROM webhooks_webhook WHERE company_id = %(company)s)
  WHEN 'apitoken' THEN of IN (SELECT id FROM companies_apitoken WHERE company_id = %(company)s)
  WHEN 'shipment' THEN EXISTS (
    SELECT FROM shipments_shipment WHERE id = of AND company_id = %(company)s)
  WHEN 'ticket' THEN EXISTS (
    SELECT FROM tickets_ticket WHERE id = of AND company_id = %(company)s)
  ELSE false END
UNION ALL
SELECT part.id FROM part JOIN deliveries_delivery AS delivery
  ON delivery.id = CASE WHEN model = 'delivery' AND object_id ~ '^[0-9a-f-]{36}$'
    THEN object_id::uuid END
JOIN webhooks_webhook AS webhook ON webhook.id = webhook_id AND company_id = %(company)s
"""
BLANK_LOG = {
    "log of the desk": """
UPDATE django_admin_log SET object_repr = '', change_message = '' WHERE id = ANY(%(keys)s)
""",
}


def walk_desk_log(company_id: int, after: Any) -> Iterator[erasing.Batch]:
    after = after or 0
    while True:
        ((last,),) = read_rows(LOG_PART, [after, LOG_STEP])
        if last is None:
            return
        rows = read_rows(LOGGED, {"after": after, "last": last, "company": company_id})
        keys = [key for (key,) in rows]
        after = last
        yield keys, after


def walk_views(company_id: int, after: Any) -> Iterator[erasing.Batch]:
    """Yield the saved views that name the company, or are filtered by it."""
    name = Company.objects.get(pk=company_id).name
    about = Q(query__regex=rf"(^|&)company[a-z_]*={company_id}(&|$)")
    mentions = (
        Q(name__icontains=name) | Q(query__icontains=name) | Q(query__icontains=quote_plus(name))
    )
    keys = list(SavedView.objects.filter(about | mentions).values_list("pk", flat=True))
    if keys:
        yield keys, None


def delete_views(keys: list[int]) -> dict[str, int]:
    return {"saved views": SavedView.objects.filter(pk__in=keys).delete()[0]}


erasing.register_erasable(
    __name__,
    erasing.Part(
        "log of the desk", walk_desk_log, lambda keys: erasing.execute_all(BLANK_LOG, keys)
    ),
    erasing.Part("saved views", walk_views, delete_views),
)
