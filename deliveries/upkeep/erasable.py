"""Erasure of a company's events, deliveries, attempts and emails (companies.erasing).

Waiting deliveries are cancelled first: a loop that has one in hand at that moment records nothing,
since its claim is gone. Of finished deliveries, ids, times and outcomes stay.
"""

from collections.abc import Iterator
from typing import Any

from django.db import connection, transaction

from companies import erasing
from companies.models import Company
from core.models import Mail
from deliveries import statements
from deliveries.models import State

STEP = 500

WEBHOOKS = "SELECT id FROM webhooks_webhook WHERE company_id = %s AND id >= %s ORDER BY id"
# Reads the index of a webhook's log.
LOG = """
SELECT id::text, created_at, event_id FROM {}
WHERE webhook_id = %(webhook)s AND (created_at, event_id) > (%(at)s::timestamptz, %(event)s)
ORDER BY created_at, event_id LIMIT %(most)s
"""
# Reads the index of streams.
EVENTS = """
SELECT type_id, id FROM deliveries_event
WHERE company_id = %(company)s AND (type_id, id) > (%(type)s, %(id)s)
ORDER BY type_id, id LIMIT %(most)s
"""
CANCEL_SOME = {
    "cancelled deliveries": f"""
UPDATE deliveries_delivery SET state = {State.CANCELLED}, finished_at = statement_timestamp(),
  archived_on = (statement_timestamp() AT TIME ZONE 'UTC')::date,
  claimed_by = NULL, claimed_until = NULL
WHERE archived_on = '9999-12-31' AND id = ANY(%(keys)s::uuid[])
""",  # noqa: S608 - our own text
}
BLANK_ATTEMPTS = {
    "attempts": """
UPDATE deliveries_attempt SET url = '', detail = '', answer = ''
WHERE delivery_id = ANY(%(keys)s::uuid[]) AND (url, detail, answer) <> ('', '', '')
""",
    "attempts that lie with their delivery": """
UPDATE deliveries_delivery SET attempt_url = '', attempt_answer = NULL
WHERE id = ANY(%(keys)s::uuid[]) AND (attempt_url <> '' OR attempt_answer IS NOT NULL)
""",
}
# The body stays valid JSON for its readers.
BLANK_EVENTS = {
    "events": """
UPDATE deliveries_event SET body = '{}', tracking_number = '', request_id = NULL, traceparent = NULL
WHERE id = ANY(%(keys)s)
""",
}


def webhook_ids(company_id: int, first: int = 0) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(WEBHOOKS, [company_id, first])
        return [webhook_id for (webhook_id,) in cursor.fetchall()]


def cancel_some(keys: list[str]) -> dict[str, int]:
    return erasing.execute_all(CANCEL_SOME, keys)


def blank_attempts(keys: list[str]) -> dict[str, int]:
    return erasing.execute_all(BLANK_ATTEMPTS, keys)


def blank_events(keys: list[int]) -> dict[str, int]:
    return erasing.execute_all(BLANK_EVENTS, keys)


def walk_waiting(company_id: int, after: Any) -> Iterator[erasing.Batch]:
    return walk_deliveries("deliveries_delivery_open", company_id, after)


def walk_log(company_id: int, after: Any) -> Iterator[erasing.Batch]:
    return walk_deliveries("deliveries_delivery", company_id, after)


def walk_deliveries(table: str, company_id: int, after: Any) -> Iterator[erasing.Batch]:
    webhook, at, event = after or [0, "-infinity", 0]
    for webhook_id in webhook_ids(company_id, webhook):
        if webhook_id != webhook:
            at, event = "-infinity", 0
        while rows := next_rows(
            LOG.format(table), {"webhook": webhook_id, "at": at, "event": event, "most": STEP}
        ):
            at, event = rows[-1][1].isoformat(), rows[-1][2]
            yield [key for key, *_ in rows], [webhook_id, at, event]


def walk_events(company_id: int, after: Any) -> Iterator[erasing.Batch]:
    kind, last = after or [-1, 0]
    while rows := next_rows(
        EVENTS, {"company": company_id, "type": kind, "id": last, "most": STEP}
    ):
        kind, last = rows[-1]
        yield [key for _, key in rows], [kind, last]


@transaction.atomic
def next_rows(statement: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
    statements.settle_plans(transaction_only=True)
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def walk_mails(company_id: int, after: Any) -> Iterator[erasing.Batch]:
    """Yield the emails to the company's address, unless another company has the same."""
    address = Company.objects.get(pk=company_id).contact_email
    others = Company.objects.filter(contact_email=address).exclude(pk=company_id)
    if address and not others.exists():
        keys = list(Mail.objects.filter(address=address).values_list("pk", flat=True))
        if keys:
            yield [str(key) for key in keys], None


def delete_mails(keys: list[str]) -> dict[str, int]:
    return {"emails": Mail.objects.filter(pk__in=keys).delete()[0]}


erasing.register_erasable(
    __name__,
    erasing.Part("waiting deliveries", walk_waiting, cancel_some),
    erasing.Part("deliveries", walk_log, blank_attempts),
    erasing.Part("events", walk_events, blank_events),
    erasing.Part("emails", walk_mails, delete_mails),
)
