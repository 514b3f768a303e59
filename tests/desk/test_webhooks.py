"""Webhooks and deliveries at the desk: what support sees, and what it may do."""

from collections.abc import Callable
from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from companies.models import Company
from deliveries import publishing
from deliveries.engine import holding, recording
from deliveries.engine.signing import sign
from deliveries.models import Delivery, Health, State
from desk.support import actions
from tests import builders as build
from tests.deliveries.test_recording import claim_one, failed, result
from tickets import roles
from tickets.changes.actors import NotAllowed
from webhooks.models import Webhook

SECRET = "5e" * 32
SIGNATURE = "/admin/deliveries/delivery/{}/signature/"

Browser = Callable[[str], Client]


@pytest.fixture
def browser(db: None) -> Browser:
    """Return a function that signs somebody of a role in."""

    def of(role: str) -> Client:
        client = Client()
        user = User.objects.create_user(f"a-{role}", is_staff=True)
        user.groups.add(roles.group(role))
        client.force_login(user)
        return client

    return of


@pytest.fixture
def given_up(company: Company) -> Delivery:
    """Create a delivery that failed for good, with the receiver's answer."""
    build.webhook(company, auth_token="delivery-token-nobody-sees")
    publishing.publish([build.news(company, 7, body=b'{"a":"Le\xc3\xb3n"}')])
    answer = b"<script>alert(1)</script>\xff\x00"
    outcome = {"state": State.GIVEN_UP, "status": 500, "error": "", "answer": answer}
    recording.record_attempts([result(claim_one(), **outcome)])
    return Delivery.objects.get()


def page(delivery: Delivery) -> str:
    return f"/admin/deliveries/delivery/{delivery.pk}/change/"


def webhook_page(webhook_id: int) -> str:
    return f"/admin/webhooks/webhook/{webhook_id}/change/"


def test_a_delivery_s_page_shows_what_was_sent_and_what_came_back(
    desk: Client, given_up: Delivery
) -> None:
    html = desk.get(page(given_up)).content.decode()

    assert "{&quot;a&quot;:&quot;León&quot;}" in html
    assert "&quot;a&quot;: &quot;León&quot;" in html
    assert "Answered 500, not 2xx." in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;��" in html
    assert "<script>alert(1)" not in html
    assert "12 ms" in html


def test_no_page_of_support_holds_a_secret(operator: Client, given_up: Delivery) -> None:
    Webhook.objects.update(next_secret="6f" * 32, next_secret_at=timezone.now())
    for address in [
        page(given_up),
        webhook_page(given_up.webhook_id),
        SIGNATURE.format(given_up.pk),
        "/admin/webhooks/webhook/sick/",
        "/admin/deliveries/delivery/",
    ]:
        answer = operator.get(address)
        assert answer.status_code == 200, address
        for secret in [SECRET, "6f" * 32, "delivery-token-nobody-sees"]:
            assert secret not in answer.content.decode()


def test_says_an_error_in_words(desk: Client, company: Company) -> None:
    build.webhook(company)
    publishing.publish([build.news(company)])
    recording.record_attempts([failed(claim_one(), error="tls_expired", detail="Expired in May.")])

    for address in [page(Delivery.objects.get()), webhook_page(Webhook.objects.get().pk)]:
        html = desk.get(address).content.decode()
        assert "The certificate has expired, or is not yet valid." in html
        assert "Expired in May." in html


def test_a_webhook_s_page_shows_how_it_does(desk: Client, company: Company) -> None:
    webhook = build.webhook(company)
    publishing.publish([build.news(company, n) for n in range(3)])
    recording.record_attempts([result(claim_one())])
    recording.record_attempts(
        [failed(claim_one(), status=503, error="", answer=b"down for repair")]
    )

    html = desk.get(webhook_page(webhook.pk)).content.decode()

    for words in ["failing", "50 % of 2", "12 ms", "down for repair", "Answered 503, not 2xx."]:
        assert words in html
    for delivery in Delivery.objects.all():
        assert str(delivery.pk) in html


@pytest.mark.parametrize("role", ["agent", "lead", "operator"])
def test_sends_one_again(browser: Browser, given_up: Delivery, role: str) -> None:
    client = browser(role)

    answer = client.post(f"/admin/deliveries/delivery/{given_up.pk}/again/")

    assert answer.status_code == 302
    given_up.refresh_from_db()
    assert given_up.state == State.WAITING
    assert (
        "Sent again."
        in client.get(f"/admin/deliveries/delivery/{given_up.pk}/history/").content.decode()
    )


def test_an_auditor_looks_and_changes_nothing(browser: Browser, given_up: Delivery) -> None:
    auditor, webhook = browser("auditor"), given_up.webhook_id
    assert "Send again" not in auditor.get(page(given_up)).content.decode()
    assert "webhook/pause/" not in auditor.get(webhook_page(webhook)).content.decode()

    refused = [
        auditor.post(f"/admin/deliveries/delivery/{given_up.pk}/again/"),
        auditor.post("/admin/webhooks/webhook/pause/", {"webhook": webhook, "reason": "x"}),
        auditor.get("/admin/webhooks/webhook/pause/", {"webhook": webhook}),
        auditor.post("/admin/webhooks/webhook/resume/", {"webhook": webhook}),
    ]
    auditor.post(
        "/admin/deliveries/delivery/",
        {"action": "send_again", "_selected_action": str(given_up.pk)},
    )

    assert [answer.status_code for answer in refused] == [403] * 4
    given_up.refresh_from_db()
    assert given_up.state == State.GIVEN_UP
    assert Webhook.objects.get().active


def test_sending_again_and_pausing_are_refused_behind_the_pages_too(given_up: Delivery) -> None:
    nobody = User.objects.create_user("newcomer", is_staff=True)

    with pytest.raises(NotAllowed):
        actions.send_again([given_up.pk], user=nobody)
    with pytest.raises(NotAllowed):
        actions.pause_webhook(given_up.webhook_id, "x", user=nobody)
    with pytest.raises(NotAllowed):
        actions.resume_webhook(given_up.webhook_id, user=nobody)

    given_up.refresh_from_db()
    assert given_up.state == State.GIVEN_UP
    assert Webhook.objects.get().active


@pytest.mark.parametrize("path", ["/again/", None])
def test_nothing_is_sent_by_a_link(desk: Client, given_up: Delivery, path: str | None) -> None:
    again = f"/admin/deliveries/delivery/{given_up.pk}/again/"
    resume = f"/admin/webhooks/webhook/resume/?webhook={given_up.webhook_id}"
    Webhook.objects.update(active=False)

    assert desk.get(again if path else resume).status_code == 405

    given_up.refresh_from_db()
    assert given_up.state == State.GIVEN_UP
    assert not Webhook.objects.get().active


def test_sends_the_selected_again_but_those_of_deleted_webhooks(
    desk: Client, given_up: Delivery, company: Company
) -> None:
    deleted_webhook = build.webhook(company, type_id=5)
    publishing.publish([build.news(company, 8, type=5)])
    recording.record_attempts([result(claim_one(), state=State.GIVEN_UP, status=500)])
    Webhook.objects.filter(pk=deleted_webhook.pk).update(deleted_at=timezone.now(), active=False)
    ids = [str(each.pk) for each in Delivery.objects.all()]

    desk.post("/admin/deliveries/delivery/", {"action": "send_again", "_selected_action": ids})

    assert Delivery.objects.get(webhook=deleted_webhook).state == State.GIVEN_UP
    given_up.refresh_from_db()
    assert given_up.state == State.WAITING


def test_a_lead_pauses_with_a_reason_that_the_company_reads(
    browser: Browser, api: APIClient, company: Company
) -> None:
    lead, webhook = browser("lead"), build.webhook(company)
    assert (
        "Reason for the pause"
        in lead.get("/admin/webhooks/webhook/pause/", {"webhook": webhook.pk}).content.decode()
    )
    assert lead.post("/admin/webhooks/webhook/pause/", {"webhook": webhook.pk}).status_code == 200
    assert Webhook.objects.get().active

    body = {"webhook": webhook.pk, "reason": "Your receiver drops what we send."}
    lead.post("/admin/webhooks/webhook/pause/", body)

    data = api.get(f"/webhooks/{webhook.pk}").json()["data"]
    assert (data["active"], data["paused_reason"]) == (0, "Your receiver drops what we send.")
    history = lead.get(f"/admin/webhooks/webhook/{webhook.pk}/history/").content.decode()
    assert "Paused: Your receiver drops what we send." in history
    assert "a-lead" in history

    lead.post("/admin/webhooks/webhook/resume/", {"webhook": webhook.pk})
    data = api.get(f"/webhooks/{webhook.pk}").json()["data"]
    assert (data["active"], data["paused_reason"]) == (1, None)


def test_selected_webhooks_are_asked_about_before_they_are_paused(
    browser: Browser, company: Company
) -> None:
    webhook = build.webhook(company)

    answer = browser("operator").post(
        "/admin/webhooks/webhook/", {"action": "pause", "_selected_action": webhook.pk}
    )

    assert "Reason for the pause" in answer.content.decode()
    assert Webhook.objects.get().active


def test_lists_the_webhooks_that_need_attention(desk: Client, company: Company) -> None:
    well, failing, behind, paused = (build.webhook(company) for _ in range(4))
    publishing.publish([build.news(company)])
    long_ago = timezone.now() - timedelta(hours=1)
    Delivery.objects.exclude(webhook=well).exclude(webhook=failing).update(created_at=long_ago)
    Health.objects.create(webhook=failing, failures=3, failing_since=long_ago)
    Webhook.objects.filter(pk=paused.pk).update(active=False, paused_reason="Gone fishing.")

    html = desk.get("/admin/webhooks/webhook/sick/").content.decode()

    assert f"/webhook/{well.pk}/" not in html
    for webhook, words in [(failing, "failing"), (behind, "behind"), (paused, "Gone fishing.")]:
        assert f"/webhook/{webhook.pk}/" in html
        assert words in html


@pytest.mark.parametrize(
    "address", ["/admin/webhooks/webhook/sick/", "/admin/deliveries/delivery/", "webhook"]
)
def test_pages_take_as_many_queries_for_many_as_for_one(
    desk: Client, company: Company, address: str
) -> None:
    webhook = build.webhook(company)
    address = webhook_page(webhook.pk) if address == "webhook" else address
    Health.objects.create(webhook=webhook, failures=1, failing_since=timezone.now())
    publishing.publish([build.news(company, 0)])
    desk.get(address)
    with CaptureQueriesContext(connection) as one:
        desk.get(address)
    for _ in range(10):
        ill = build.webhook(build.company(uuid4().hex))
        Health.objects.create(webhook=ill, failures=1, failing_since=timezone.now())
    publishing.publish([build.news(company, n) for n in range(30)])

    with CaptureQueriesContext(connection) as many:
        answer = desk.get(address)

    assert answer.status_code == 200
    assert len(many) == len(one) <= 16


def test_the_list_is_found_through_an_index_whatever_the_state(
    desk: Client, given_up: Delivery
) -> None:
    for state in ["", *(state.slug for state in State)]:
        html = desk.get("/admin/deliveries/delivery/", {"state": state}).content.decode()
        assert (str(given_up.pk) in html) == (state in ("", "given_up"))
    assert (
        str(given_up.pk)
        in desk.get("/admin/deliveries/delivery/", {"q": str(given_up.pk)}).content.decode()
    )
    assert desk.get("/admin/deliveries/delivery/", {"q": "no id"}).status_code == 200


def verdict(client: Client, delivery: Delivery, timestamp: str, signature: str) -> str:
    body = {"timestamp": timestamp, "signature": signature}
    return client.post(SIGNATURE.format(delivery.pk), body).content.decode()


def test_tells_whether_a_signature_is_ours(desk: Client, given_up: Delivery) -> None:
    ours = sign(SECRET, 1700000000000, "tracking.simple", b'{"a":"Le\xc3\xb3n"}')

    assert "The signature is ours" in verdict(desk, given_up, "1700000000000", ours)
    assert "The signature is not ours" in verdict(desk, given_up, "1700000000001", ours)
    assert "The signature is not ours" in verdict(desk, given_up, "1700000000000", "v1=é")
    assert "The signature is not ours" in verdict(desk, given_up, "soon", ours)
    Webhook.objects.update(secret="77" * 32, next_secret="78" * 32, next_secret_at=timezone.now())
    assert "can no longer tell" in verdict(desk, given_up, "1700000000000", ours)
    assert "can no longer be checked" in desk.get(page(given_up)).content.decode()


def test_a_webhook_without_a_url_is_shown_as_one(company: Company, browser: Browser) -> None:
    webhook = build.webhook(company, url="")
    auditor = browser("auditor")

    for address in ("", f"{webhook.pk}/change/"):
        html = auditor.get(f"/admin/webhooks/webhook/{address}").content.decode()
        assert "none: its company fetches the events" in html


def test_a_webhook_whose_host_is_held_says_so(
    desk: Client, browser: Browser, company: Company
) -> None:
    webhook = build.webhook(company, url="https://hooks.example.com/in")
    publishing.publish([build.news(company, 7)])
    holding.hold_host("hooks.example.com", by="olga", reason="private words")

    html = desk.get(webhook_page(webhook.pk)).content.decode()
    events_html = desk.get(f"/admin/tickets/ticket/events/?company={company.pk}").content.decode()

    assert "operator has held" in html
    assert "The company sees that it is held, and no reason." in html
    assert "private words" not in html
    assert "Who holds it, and why" not in html
    webhook_html = browser("operator").get(webhook_page(webhook.pk)).content.decode()
    assert "Who holds it, and why" in webhook_html
    assert "An operator holds hooks.example.com, so deliveries there are waiting." in events_html

    holding.hold_host("hooks.example.com", by="olga", public_reason="You asked us.", hours=1)
    html = desk.get(webhook_page(webhook.pk)).content.decode()
    assert "You asked us." in html
    assert "It ends by itself" in html
