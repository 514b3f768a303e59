"""Operators send many deliveries again at the desk: count, confirm, watch, stop."""

import pytest
from django.test import Client
from django.utils import timezone

from companies.models import AuditEntry, Company
from deliveries import publishing
from deliveries.models import Delivery, Replay, State
from deliveries.upkeep import replaying
from tests import builders as build
from tickets import roles

NEW = "/admin/deliveries/replay/new/"


def signed_in(role: str) -> Client:
    client = Client()
    client.force_login(roles.create_user(f"a-{role}", "long-Enough-9812", role))
    return client


@pytest.fixture
def olga(db: None) -> Client:
    return signed_in("operator")


@pytest.fixture
def lost(company: Company) -> int:
    """Create three deliveries that were given up; return the webhook's id."""
    webhook = build.webhook(company)
    publishing.publish([build.news(company, n) for n in range(3)])
    now = timezone.now()
    Delivery.objects.update(state=State.GIVEN_UP, archived_on=now.date(), finished_at=now)
    return webhook.pk


def begin(olga: Client, webhook: int) -> Replay:
    data = {"webhook": webhook, "state": "given_up", "rate": "2", "confirm": "3"}
    answer = olga.post(NEW, data)
    assert answer.status_code == 302
    return Replay.objects.get()


def test_a_run_is_counted_confirmed_and_watched(olga: Client, company: Company, lost: int) -> None:
    selection = {"company": company.name, "webhook": lost, "state": "given_up", "rate": "2"}
    count_page = olga.get(NEW, selection)
    assert "3 deliveries" in count_page.text
    context = count_page.context["given"]

    refused = olga.post(NEW, context | {"confirm": "2"})
    assert "not the number" in refused.text
    assert f'value="{lost}"' in refused.text
    assert not Replay.objects.exists()
    page = olga.post(NEW, context | {"confirm": "3"}, follow=True)

    assert "0 of 3" in page.text
    run = Replay.objects.get()
    assert (run.total, run.rate, run.by) == (3, 2, "a-operator")
    replaying.step_replays()
    assert "2 of 3" in olga.get(f"/admin/deliveries/replay/{run.pk}/change/").text
    assert Delivery.objects.open().count() == 2
    entry = AuditEntry.objects.get()
    assert (entry.act, entry.actor, entry.via) == ("redeliver", "a-operator", "desk")
    assert entry.company_id == company.pk


def test_a_few_go_at_once(olga: Client, lost: int) -> None:
    page = olga.post(NEW, {"webhook": lost, "state": "given_up", "confirm": "3"}, follow=True)

    assert "3 deliveries will be sent again." in page.text
    assert Delivery.objects.open().count() == 3


def test_a_run_is_stopped(olga: Client, lost: int) -> None:
    run = begin(olga, lost)
    replaying.step_replays()

    page = olga.post(f"/admin/deliveries/replay/{run.pk}/stop/", follow=True)
    assert "The run is stopped." in page.text
    again = olga.post(f"/admin/deliveries/replay/{run.pk}/stop/", follow=True)
    assert "has ended already" in again.text

    run.refresh_from_db()
    assert run.stopped_by == "a-operator"
    Replay.objects.update(next_at=timezone.now())
    assert not replaying.step_replays()
    assert Delivery.objects.open().count() == 2
    assert AuditEntry.objects.latest("pk").details == {"stop": run.pk}


def test_auditors_look_and_agents_do_not(olga: Client, lost: int, desk: Client) -> None:
    run = begin(olga, lost)
    page = f"/admin/deliveries/replay/{run.pk}/"
    auditor = signed_in("auditor")

    assert "Send deliveries again" in olga.get("/admin/deliveries/replay/").text
    list_page = auditor.get("/admin/deliveries/replay/")
    assert "Send deliveries again" not in list_page.text
    assert "0 of 3" in list_page.text
    looked = auditor.get(f"{page}change/")
    assert "/stop/" not in looked.text
    assert auditor.get(NEW).status_code == 403
    assert auditor.post(f"{page}stop/").status_code == 403
    assert desk.get("/admin/deliveries/replay/").status_code == 403
    run.refresh_from_db()
    assert run.ended_at is None


@pytest.mark.parametrize(
    ("selection", "says"),
    [
        ({"state": "given_up"}, "Enter a company"),
        ({"state": "given_up", "host": "https://x/"}, "Enter a name such as"),
        ({"state": "given_up", "company": "Nobody"}, "Company not found."),
        ({"state": "given_up", "webhook": "x"}, "whole number"),
        ({"state": "given_up", "webhook": "1", "rate": "5000"}, "less than or equal to 1000"),
    ],
)
def test_what_cannot_be_chosen_says_why(olga: Client, selection: dict, says: str) -> None:
    page = olga.get(NEW, selection)

    assert says in page.text
    assert "chosen" not in page.context
