"""The desk's pages about sending: its state, and how operators stop and resume it."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError
from django.test import Client
from pytest_django import Settings

from companies.models import AuditEntry, Company
from deliveries import publishing
from deliveries.engine import holding, leases
from deliveries.models import Drain, HeldHost
from deliveries.monitoring import queue_picture
from desk.support import sending_acts
from tests import builders as build
from tickets import roles
from tickets.changes.actors import NotAllowed

PAGE = "/admin/webhooks/webhook/sending/"
HOST = "hooks.example.com"


@pytest.fixture
def olga(db: None) -> Client:
    """Return the browser of an operator."""
    return browser_of("operator")


@pytest.fixture
def audited(db: None) -> Callable[[], list[tuple[str, str, str, Any]]]:
    entries = AuditEntry.objects.filter(via="desk").order_by("pk")
    return lambda: list(entries.values_list("act", "actor", "about", "details"))


def browser_of(role: str) -> Client:
    client = Client()
    user = User.objects.create_user(f"an-{role}", is_staff=True)
    user.groups.add(roles.group(role))
    client.force_login(user)
    return client


def page_text(client: Client) -> str:
    return client.get(PAGE).content.decode()


def test_shows_what_waits_and_what_is_stopped(olga: Client, company: Company) -> None:
    build.webhook(company, url=f"https://{HOST}:8443/in")
    build.webhook(company, url="https://other.example/")
    publishing.publish([build.news(company), build.news(company)])
    html = page_text(olga)
    assert "No host is held." in html
    assert "no loop is alive" in html
    assert f'value="{HOST}"' in html  # the offer to hold it, without its port

    holding.hold_host(HOST, by="ann@db1", reason="ticket <4711>", public_reason="You asked us.")
    holding.drain_loops(by="ann@db1", reason="new network")
    answer = olga.get(PAGE)
    html = answer.content.decode()

    for text in ("ticket &lt;4711&gt;", "You asked us.", "new network", "ann@db1", "drained"):
        assert text in html
    ((hold, waiting),) = answer.context["holds"]
    assert (hold.host, len(waiting.webhooks), waiting.waiting) == (HOST, 1, 2)
    assert html.count(f'value="{HOST}"') == 1  # the offer to release it


def test_holds_and_releases_a_host_as_the_commands_do(
    olga: Client, company: Company, audited: Callable[[], Any]
) -> None:
    build.webhook(company, url=f"https://{HOST}/in")
    form = {"host": "Hooks.Example.com", "hours": "6", "reason": "x", "public_reason": ""}

    answer = olga.post(f"{PAGE}hold/", form, follow=True)

    assert "is held: 1 webhook." in answer.content.decode()
    hold = HeldHost.objects.get()
    assert (hold.host, hold.by, hold.held_until is None) == (HOST, "an-operator", False)

    assert f"Release {HOST}" in olga.get(f"{PAGE}release/?host={HOST}").content.decode()
    assert HeldHost.objects.exists()  # only the confirmation
    olga.post(f"{PAGE}release/", {"host": HOST})
    assert not HeldHost.objects.exists()
    answer = olga.post(f"{PAGE}release/", {"host": HOST}, follow=True)
    assert "was not held" in answer.content.decode()
    assert audited() == [
        ("hold_host", "an-operator", HOST, {"reason": "x", "hours": 6}),
        ("release_host", "an-operator", HOST, {}),
    ]


def test_a_host_that_nobody_has_is_held_with_a_warning(olga: Client, company: Company) -> None:
    answer = olga.post(f"{PAGE}hold/", {"host": HOST}, follow=True)

    assert "No webhook has a URL there" in answer.content.decode()


@pytest.mark.parametrize(
    "wrong",
    [{"host": "https://hooks.example.com/in"}, {"hours": "0"}, {"hours": "721"}, {"host": ""}],
)
def test_what_cannot_be_held_is_refused_and_loses_no_text(
    olga: Client, wrong: dict[str, str]
) -> None:
    text = "what somebody typed at three in the morning"

    answer = olga.post(f"{PAGE}hold/", {"host": HOST, "reason": text} | wrong)

    assert answer.status_code == 400
    assert text in answer.content.decode()
    assert not HeldHost.objects.exists()


def test_drains_and_resumes(olga: Client, audited: Callable[[], Any]) -> None:
    assert olga.get(f"{PAGE}drain/").status_code == 200
    assert not Drain.objects.exists()
    olga.post(f"{PAGE}drain/", {"reason": "new network"})
    assert Drain.objects.get().by == "an-operator"
    assert "Resume…" in page_text(olga)

    olga.get(f"{PAGE}resume/")
    assert Drain.objects.exists()
    olga.post(f"{PAGE}resume/")
    assert not Drain.objects.exists()
    answer = olga.post(f"{PAGE}resume/", follow=True)
    assert "Nothing was drained." in answer.content.decode()
    assert [act for act, *_ in audited()] == ["drain", "resume"]


@pytest.mark.parametrize("act", ["hold", "release", "drain", "resume"])
def test_auditors_look_and_stop_nothing(db: None, act: str) -> None:
    auditor, agent = browser_of("auditor"), browser_of("lead")

    html = page_text(auditor)
    assert "All sending:" in html
    assert "Stop all sending…" not in html
    assert "Hold a host…" not in html
    assert agent.get(PAGE).status_code == 403
    for client in (auditor, agent):
        assert client.get(f"{PAGE}{act}/").status_code == 403
        assert client.post(f"{PAGE}{act}/", {"host": HOST}).status_code == 403
    assert not HeldHost.objects.exists()
    assert not Drain.objects.exists()


def test_the_acts_ask_for_themselves(db: None) -> None:
    nobody = User.objects.create_user("nobody", is_staff=True)

    with pytest.raises(NotAllowed):
        sending_acts.drain_at_desk(user=nobody, reason="")
    with pytest.raises(NotAllowed):
        sending_acts.release_at_desk(HOST, user=nobody)


def test_what_cannot_be_counted_keeps_nobody_from_acting(
    olga: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stuck() -> None:
        raise OperationalError("canceling statement due to statement timeout")

    holding.hold_host(HOST, by="ann@db1")
    monkeypatch.setattr(queue_picture, "queue_totals", stuck)

    html = page_text(olga)

    assert "did not say in time" in html
    assert "Stop all sending…" in html
    assert HOST in html


def test_the_side_bar_lights_up_where_it_stands_alone(olga: Client) -> None:
    groups = olga.get(PAGE).context["sidebar_navigation"]

    lit = [item["title"] for group in groups for item in group["items"] if item["active"]]

    assert lit == ["Sending"]


def test_says_whether_the_outgoing_proxy_works(olga: Client, settings: Settings) -> None:
    assert "outgoing proxy" not in page_text(olga)
    settings.DELIVERY_PROXY = "http://ann:secret@127.0.0.1:1"
    assert "no trouble" in page_text(olga)
    loop = leases.join(1)
    assert loop
    leases.renew(loop, proxy_trouble="The outgoing proxy cannot be reached.")

    html = page_text(olga)

    assert "no connection" in html
    assert "Loops that cannot send: 1" in html
    assert "127.0.0.1:1" in html
    assert "secret" not in html
