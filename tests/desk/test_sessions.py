"""Users see where they are signed in and end sessions; so do those who manage them."""

import re
from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from companies.models import AuditEntry
from config.door.credentials import known_session
from desk.models import SeenSession
from desk.people import seen_sessions
from tests import builders as build
from tickets import roles
from tickets.models import Agent

pytestmark = pytest.mark.django_db
OWN = "/admin/sessions/"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
SAFARI = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15"
    " (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1"
)
EDGE = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)"
    " Chrome/143.0.0.0 Safari/537.36 Edg/143.0.0.0"
)


@pytest.fixture(autouse=True)
def ada(db: None) -> User:
    return build.agent("ada").user


def sign_in(agent: str = FIREFOX, *, name: str = "ada", at: str = "192.0.2.1") -> Client:
    client = Client(headers={"User-Agent": agent}, REMOTE_ADDR=at)
    client.post("/admin/login/", {"username": name, "password": "secret"})
    return client


def html_of(client: Client, page: str = OWN) -> str:
    return client.get(page).content.decode()


def inside(client: Client) -> bool:
    """Return True if the desk lets the client in, at an address that renders no page (405)."""
    status = client.get("/admin/tickets/agent/1/available/").status_code
    assert status in (302, 405)
    return status == 405


def buttons(html: str) -> list[str]:
    """Return the values that the buttons for ending a session send."""
    return re.findall(r'name="end" value="(\w{32})"', html)


def page_of(user: User) -> str:
    return f"{OWN}{user.pk}/"


def as_lead() -> Client:
    build.agent("lea", group="lead")
    return sign_in(name="lea")


def test_lists_ones_browsers_and_never_a_key() -> None:
    here = sign_in()
    phone = sign_in(SAFARI, at="2001:db8:0:1:7::9")
    sign_in(EDGE, at="198.51.100.7")
    build.agent("eve")
    sign_in("Eve's own browser, with Chrome/1 on CrOS", name="eve")

    html = html_of(here)

    for text in ("Firefox on Linux", "Safari on iPhone", "Edge on Windows", "2001:db8:0:1::"):
        assert text in html
    assert "ChromeOS" not in html
    assert html.count("This browser") == 1
    assert len(buttons(html)) == 2
    for client in (here, phone):
        key = client.cookies["sessionid"].value
        assert key not in html
        assert key not in str(list(SeenSession.objects.values()))


def test_ends_one_of_ones_own_and_no_other() -> None:
    here, there, far = sign_in(), sign_in(SAFARI), sign_in(EDGE)
    assert inside(there)
    (of_safari,) = [
        digest
        for digest in buttons(html_of(here))
        if SeenSession.objects.get(pk=digest).browser == "Safari"
    ]

    html = here.post(OWN, {"end": of_safari}, follow=True).content.decode()

    assert "1 session ended." in html
    assert (inside(here), inside(there), inside(far)) == (True, False, True)
    entry = AuditEntry.objects.get(act="end_sessions")
    assert (entry.actor, entry.about, entry.details) == ("ada", "user ada", {"ended": 1})
    assert "over already" in here.post(OWN, {"end": of_safari}, follow=True).content.decode()


def test_ends_all_others_and_stays() -> None:
    here, *others = sign_in(), sign_in(), sign_in(SAFARI)

    here.post(OWN, {"all": "1"})

    assert inside(here)
    assert not any(inside(each) for each in others)
    assert "End all others" not in html_of(here)


def test_the_own_session_is_not_ended_here() -> None:
    here = sign_in()
    own = SeenSession.objects.get().pk

    here.post(OWN, {"end": own})

    assert inside(here)


def test_nobody_ends_what_is_somebody_else_s() -> None:
    build.agent("eve")
    eve, mine = sign_in(name="eve"), sign_in()
    its = SeenSession.objects.get(user__username="eve").pk

    mine.post(OWN, {"end": its})
    its_page = page_of(User.objects.get(username="eve"))

    assert mine.get(its_page).status_code == mine.post(its_page, {"all": "1"}).status_code == 403
    assert inside(eve)


def test_a_lead_ends_those_of_an_agent_and_of_nobody_else(ada: User) -> None:
    lead, theirs = as_lead(), sign_in(SAFARI)
    page = page_of(ada)
    assert f'href="{page}"' in html_of(lead, f"/admin/tickets/agent/{ada.agent.pk}/change/")
    assert "Safari on iPhone" in html_of(lead, page)

    lead.post(page, {"end": buttons(html_of(lead, page))[0]})

    assert not inside(theirs)
    assert inside(lead)
    assert AuditEntry.objects.get(act="end_sessions").actor == "lea"
    beside = User.objects.create_user("otto", is_staff=True)
    root = User.objects.create_superuser("root")
    Agent.objects.create(user=root)
    assert {lead.get(page_of(user)).status_code for user in (beside, root)} == {403}


def test_an_operator_ends_those_of_anybody_but_a_superuser(ada: User) -> None:
    otto = User.objects.create_user("otto", password="secret", is_staff=True)
    otto.groups.add(roles.group("operator"))
    operator, theirs = sign_in(name="otto"), sign_in()
    root = User.objects.create_superuser("root")
    assert f'href="{page_of(ada)}"' in html_of(operator, f"/admin/auth/user/{ada.pk}/change/")

    operator.post(page_of(ada), {"all": "1"})

    assert not inside(theirs)
    assert operator.get(page_of(root)).status_code == 403
    assert operator.get(f"{OWN}999999/").status_code == 404


def test_auditors_end_nobody_s(ada: User) -> None:
    User.objects.create_user("aud", password="secret", is_staff=True).groups.add(
        roles.group("auditor")
    )

    assert sign_in(name="aud").get(page_of(ada)).status_code == 403


def test_whoever_owes_the_second_factor_stands_in_the_list(ada: User) -> None:
    here, half = sign_in(), sign_in(SAFARI)
    session = half.session
    session["second_factor"] = "code"
    session.save()

    assert "waits for the second factor" in html_of(here)


def test_sessions_ended_by_a_password_change_are_not_listed(ada: User) -> None:
    here, there = sign_in(), sign_in(SAFARI)
    new = {"new_password1": "horse-9-battery", "new_password2": "horse-9-battery"}

    here.post("/admin/password_change/", {"old_password": "secret", **new})

    html = html_of(here)
    assert "Safari" not in html
    assert "Firefox on Linux" in html, "it goes on under another key"
    assert SeenSession.objects.get(browser="Firefox").began_at is not None
    assert not inside(there)


def test_who_is_switched_off_is_out_at_once(ada: User) -> None:
    theirs, lead = sign_in(), as_lead()
    User.objects.filter(pk=ada.pk).update(is_active=False)

    assert not inside(theirs)
    assert "Not signed in anywhere." in html_of(lead, page_of(ada))


def test_session_of_the_previous_version_stays_valid_and_is_listed(ada: User) -> None:
    here, old = sign_in(), sign_in(SAFARI)
    SeenSession.objects.filter(browser="Safari").delete()
    assert "Unknown browser" in html_of(here)
    seen_sessions.RECENTLY_RECORDED.entries.clear()

    assert inside(old)

    assert "Safari on iPhone" in html_of(here)
    assert SeenSession.objects.get(browser="Safari").began_at is None


def test_is_seen_once_in_five_minutes(ada: User) -> None:
    here = sign_in()
    past = timezone.now() - timedelta(minutes=4)

    def seen_again() -> bool:
        SeenSession.objects.update(seen_at=past)
        # Empty the cache, as in another process.
        seen_sessions.RECENTLY_RECORDED.entries.clear()
        here.get("/admin/live/")
        here.get(OWN, headers={"User-Agent": EDGE})
        return SeenSession.objects.get().seen_at != past

    assert not seen_again()
    past = timezone.now() - timedelta(minutes=6)
    assert seen_again()
    assert SeenSession.objects.get().browser == "Edge"


def test_a_process_asks_the_database_no_more_often(ada: User) -> None:
    here = sign_in()
    past = timezone.now() - timedelta(hours=1)
    SeenSession.objects.update(seen_at=past)

    inside(here)

    assert SeenSession.objects.get().seen_at == past


def test_polling_page_does_not_count_as_seen(ada: User) -> None:
    here = sign_in()
    past = timezone.now() - timedelta(hours=1)
    SeenSession.objects.update(seen_at=past)
    seen_sessions.RECENTLY_RECORDED.entries.clear()

    here.get("/admin/live/mine/")

    assert SeenSession.objects.get().seen_at == past


def test_prune_forgets_what_is_known_of_sessions_that_are_over(ada: User) -> None:
    sign_in(), sign_in(SAFARI)
    SeenSession.objects.filter(browser="Safari").update(
        seen_at=timezone.now() - timedelta(hours=13)
    )

    call_command("prune", "--older-than", "30", stdout=StringIO())

    assert [one.browser for one in SeenSession.objects.all()] == ["Firefox"]


def end_sessions(*arguments: str) -> str:
    out = StringIO()
    call_command("end_sessions", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_ends_all_of_a_user(ada: User) -> None:
    build.agent("eve")
    sign_in(), sign_in(SAFARI)
    eve = sign_in(name="eve")

    assert end_sessions("ada", "--dry-run") == "would end 2 sessions of ada\n"
    assert Session.objects.count() == 3
    assert not AuditEntry.objects.exists()
    assert end_sessions("ada") == "ended 2 sessions of ada\n"

    assert inside(eve)
    assert Session.objects.count() == 1
    entry = AuditEntry.objects.get()
    assert (entry.about, entry.outcome) == ("user ada", "ended 2 sessions")
    with pytest.raises(CommandError, match="no user nobody"):
        end_sessions("nobody")


def test_a_session_is_stored_as_a_digest_that_opens_nothing(ada: User) -> None:
    client = sign_in()
    key = client.cookies["sessionid"].value

    row = Session.objects.get()
    assert key not in row.pk
    assert inside(client)
    assert "End" not in html_of(client)
    assert known_session(f"sessionid={key}")
    # The stored digest is no valid session key.
    assert not known_session(f"sessionid={row.pk}")
    client.cookies["sessionid"] = row.pk
    assert not inside(client)
    client.cookies["sessionid"] = key
    client.post("/admin/logout/")
    assert not Session.objects.exists()
