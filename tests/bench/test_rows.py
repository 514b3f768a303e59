"""Rows that SQL creates are as the engine expects them, with their wake-ups."""

import pytest
from django.db import connection

from deliveries.models import Delivery, State
from tools.bench import rows, waiting_webhooks
from webhooks.models import Webhook

pytestmark = pytest.mark.django_db(transaction=True)

WAKES = """
SELECT webhook_id, due_at <= now(), due_at BETWEEN now() + interval '50 minutes'
  AND now() + interval '1 hour' FROM deliveries_wakeup ORDER BY webhook_id
"""


def looks() -> list[tuple[int, bool, bool]]:
    """Return each webhook with a wake-up, and whether it is due now and in an hour."""
    with connection.cursor() as cursor:
        cursor.execute(WAKES)
        return cursor.fetchall()


@pytest.mark.usefixtures("loopback")
def test_webhooks_that_wait_are_copies_with_a_retry_each() -> None:
    ids = waiting_webhooks.make(3)

    webhooks = Webhook.objects.filter(pk__in=ids)
    assert ids == sorted(ids)
    assert len({webhook.company_id for webhook in webhooks}) == 3
    assert all(webhook.secret for webhook in webhooks)
    waiting = Delivery.objects.filter(webhook_id__in=ids, state=State.WAITING, attempts=1)
    assert sorted(waiting.values_list("webhook_id", flat=True)) == ids


@pytest.mark.slow
@pytest.mark.usefixtures("loopback")
def test_an_engine_is_told_when_to_look() -> None:
    later = waiting_webhooks.make(3)
    assert looks() == [(each, False, True) for each in later]

    now = rows.webhooks(2)
    rows.wait(now, 6)
    assert looks() == [(each, False, True) for each in later] + [
        (each, True, False) for each in now
    ]

    rows.forget()
    assert looks() == []
