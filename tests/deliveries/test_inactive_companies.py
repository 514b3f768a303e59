"""A company that is switched off gets nothing, loses nothing, and gets it all later (N27)."""

from datetime import timedelta

from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from companies import services
from companies.models import Company
from deliveries import jobs, publishing
from deliveries.engine import lanes, rendering
from deliveries.models import Delivery, Health, State
from deliveries.monitoring import backlog
from tests import builders as build
from tests.sending import deliver, make_due, wake_all
from tools.faults.receiver import Receiver
from webhooks.models import Webhook
from webhooks.targets import Policy

COMPANIES = "/admin/companies/company/"


def switch(browser: Client, company: Company, *, on: bool) -> str:
    tokens = {"tokens-TOTAL_FORMS": 0, "tokens-INITIAL_FORMS": 0}
    body = {"name": company.name, **tokens, **({"active": "on"} if on else {})}
    address = f"{COMPANIES}{company.pk}/change/"
    html = browser.post(address, body, follow=True).content.decode()
    company.refresh_from_db()
    assert company.active == on
    return html


def test_its_webhooks_behave_as_paused_and_then_as_resumed(
    api: APIClient, company: Company, receiver: Receiver, loopback: Policy, admin_client: Client
) -> None:
    webhook = build.webhook(company, url=f"{receiver.url}/in")
    publishing.publish([build.news(company, 1)])
    build.ticket(company)

    html = switch(admin_client, company, on=False)
    publishing.publish([build.news(company, 2)])
    make_due()

    assert "its webhooks are paused. 1 open ticket. Waiting deliveries: 1." in html
    assert api.get("/webhooks").status_code == 401
    assert deliver(loopback) == 0
    assert backlog.oldest_due() is None
    assert Delivery.objects.filter(state=State.WAITING).count() == 2
    page = admin_client.get(f"/admin/webhooks/webhook/{webhook.pk}/change/").content.decode()
    assert "The company is inactive. Nothing is sent until it is active again" in page
    confirmation = admin_client.get(f"{COMPANIES}{company.pk}/change/").content.decode()
    assert "1 open ticket. Waiting deliveries: 2." in confirmation

    switch(admin_client, company, on=True)

    assert deliver(loopback) == 2
    assert len(receiver.log) == 2
    assert api.get("/webhooks").status_code == 200


def test_nothing_is_claimed_for_it_by_a_loop_that_works_on_its_webhook(company: Company) -> None:
    """Check the company when a loop takes a webhook, and again before each claim."""
    webhook = build.webhook(company)
    publishing.publish([build.news(company)])
    assert list(rendering.addresses([webhook.pk])) == [webhook.pk]

    services.set_active(company.pk, False)

    assert rendering.addresses([webhook.pk]) == {}


def test_a_webhook_that_was_paused_stays_paused(company: Company) -> None:
    paused = build.webhook(company, active=False)
    services.set_active(company.pk, False)

    assert services.set_active(company.pk, True)

    paused.refresh_from_db()
    assert (paused.active, paused.resumed_at) == (False, None)
    assert not services.set_active(company.pk, True)


def test_the_days_of_an_inactive_company_do_not_count_as_failing(company: Company) -> None:
    webhook = build.webhook(company)
    long_ago = timezone.now() - timedelta(days=6)
    Health.objects.create(webhook=webhook, failures=9, failing_since=long_ago)
    services.set_active(company.pk, False)
    assert jobs.pause_failing() == 0

    services.set_active(company.pk, True)

    assert jobs.pause_failing() == 0
    assert Webhook.objects.get(pk=webhook.pk).active


def test_inactive_company_has_no_wakeups(company: Company) -> None:
    build.webhook(company)
    publishing.publish([build.news(company)])
    Delivery.objects.update(due_at=timezone.now() - timedelta(minutes=5))
    Company.objects.filter(pk=company.pk).update(active=False)

    assert lanes.find_missed(lanes.FROM_THE_NEWEST, 100)[1] == 0
    # A company that is switched on in SQL is found as well.
    Company.objects.filter(pk=company.pk).update(active=True)
    wake_all()
    Delivery.objects.update(due_at=timezone.now() - timedelta(minutes=5))
    assert backlog.oldest_due() is not None
