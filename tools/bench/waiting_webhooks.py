"""Webhooks by the million, each with one delivery due in an hour, inserted by SQL."""

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

# Copies a company, with a copy of its webhook for each.
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
# Inserts waiting retries: attempted once, and due in an hour.
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
    """Create `count` more webhooks; return their ids in order of creation."""
    (model,) = load.webhooks([URL])
    ids: list[int] = []
    with connection.cursor() as cursor, tqdm(total=count, desc="webhooks", disable=None) as bar:
        # Undo the tuning of the service's connections: this is a bulk load.
        cursor.execute("SET statement_timeout = 0")
        while len(ids) < count:
            some = min(AT_ONCE, count - len(ids))
            ids += make_some(cursor, model, some)
            bar.update(some)
    # Do not let later code inherit this connection's settings.
    connection.close()
    rows.analyze()
    return ids


def make_some(cursor: CursorWrapper, model: Webhook, count: int) -> list[int]:
    """Copy `model`; return the ids of the copies."""
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


def highest(rows: models.QuerySet[Any]) -> int:
    """Return the highest id of a table that is not empty."""
    return rows.aggregate(models.Max("pk"))["pk__max"]


def columns(model: type[models.Model], but: Sequence[str] = ()) -> str:
    """List a table's columns in SQL, without its primary key and those in `but`."""
    names = [field.column for field in model._meta.concrete_fields if not field.primary_key]
    return ", ".join(name for name in names if name not in but)
