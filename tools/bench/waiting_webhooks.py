"""Webhooks by the million, each with one delivery that is due in an hour, made by SQL."""

from collections.abc import Sequence
from typing import Any

from django.db import connection, models
from django.db.backends.utils import CursorWrapper
from tqdm import tqdm

from companies.models import Company
from tools.bench import load, rows
from tools.bench.bodies import body
from webhooks.models import Webhook

AT_ONCE = 100_000
URL = "https://hooks.example.com/in"

# Copies of one company, and one webhook for each, a copy of its webhook.
COMPANIES = """
INSERT INTO companies_company ({columns})
SELECT {columns} FROM companies_company CROSS JOIN generate_series(1, %(count)s)
WHERE id = %(company)s
"""
WEBHOOKS = """
INSERT INTO webhooks_webhook (company_id, {columns})
SELECT copy.id, model.* FROM companies_company AS copy CROSS JOIN (
  SELECT {columns} FROM webhooks_webhook WHERE id = %(webhook)s) AS model
WHERE copy.id > %(after)s ORDER BY copy.id
"""
# What a retry looks like that waits: attempted once, and not due for an hour.
WAITING = """
WITH event AS (
  INSERT INTO deliveries_event
    (company_id, type_id, shipment_id, tracking_number, body, created_at)
  SELECT company_id, type_id, id, 'TRACK' || id, %(body)s, now()
  FROM webhooks_webhook WHERE id > %(after)s ORDER BY id
  RETURNING id, company_id, shipment_id, created_at
)
INSERT INTO deliveries_delivery
  (id, event_id, webhook_id, subject_id, subject_kind, state, attempts, step, due_at,
   first_attempt_at, last_status, last_error, created_at)
SELECT deliveries_uuid(), event.id, webhook.id, event.shipment_id, 1, 0, 1, 1,
  now() + interval '1 hour', now(), 500, '', event.created_at
FROM event JOIN webhooks_webhook AS webhook USING (company_id) WHERE webhook.id > %(after)s
ORDER BY webhook.id
"""


def make(count: int) -> list[int]:
    """Make so many more; returns the webhooks' ids, in the order in which they were made."""
    (model,) = load.webhooks([URL])
    ids: list[int] = []
    with connection.cursor() as cursor, tqdm(total=count, desc="webhooks", disable=None) as bar:
        # Not as the service's connections may be tuned: this is a bulk load.
        cursor.execute("SET statement_timeout = 0")
        while len(ids) < count:
            some = min(AT_ONCE, count - len(ids))
            ids += make_some(cursor, model, some)
            bar.update(some)
    # The settings of this connection are for nobody else.
    connection.close()
    rows.analyze()
    return ids


def make_some(cursor: CursorWrapper, model: Webhook, count: int) -> list[int]:
    """Copies of `model`; returns their ids."""
    companies, webhooks = Company.objects, Webhook.objects
    newest_company, newest = highest(companies.all()), highest(webhooks.all())
    cursor.execute(
        COMPANIES.format(columns=columns(Company)), {"count": count, "company": model.company_id}
    )
    copied = columns(Webhook, but=["company_id"])
    cursor.execute(WEBHOOKS.format(columns=copied), {"webhook": model.pk, "after": newest_company})
    cursor.execute("ANALYZE companies_company, webhooks_webhook")
    cursor.execute(WAITING, {"body": body(0), "after": newest})
    rows.wake("webhook_id > %(after)s", {"after": newest})
    return list(webhooks.filter(pk__gt=newest).order_by("pk").values_list("pk", flat=True))


def highest(found: models.QuerySet[Any]) -> int:
    """The newest id; there is one."""
    return found.aggregate(models.Max("pk"))["pk__max"]


def columns(model: type[models.Model], but: Sequence[str] = ()) -> str:
    """All of a table's columns but its id and these, for a list in SQL."""
    names = [field.column for field in model._meta.concrete_fields if not field.primary_key]
    return ", ".join(name for name in names if name not in but)
