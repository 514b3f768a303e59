"""A forgotten password: requested by name or address, set by a link, once and within an hour."""

import re
from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.db.models import F
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from companies.models import AuditEntry
from core.models import Mail
from desk.models import Preferences, ResetRequest
from desk.people import resets
from tests import builders as build
from tests.desk.test_sessions import inside, sign_in
from tests.desk.test_two_factor import switch_on

pytestmark = pytest.mark.django_db
ASK = "/admin/password-reset/"
NEW = "correct-horse-9"
CONFIRMATION = "an email with a link is on its way"


@pytest.fixture(autouse=True)
def ada(db: None) -> User:
    user = build.agent("ada").user
    user.email = "ada@desk.example"
    user.save()
    return user


def ask(name: str, *, at: str = "192.0.2.1", client: Client | None = None) -> HttpResponse:
    return (client or Client()).post(ASK, {"name": name}, REMOTE_ADDR=at, follow=True)


def link() -> str:
    """Return the link in the newest email."""
    newest = Mail.objects.order_by("-created_at")[0]
    match = re.search(r"http://testserver(/admin/password-reset/\S+)", newest.secret_text or "")
    assert match, newest.subject
    return match[1]


def form_of(path: str, client: Client) -> str | None:
    """Return the address of this link's form, or None if the link no longer works."""
    answer = client.get(path, follow=True)
    has_form = 'name="new_password1"' in answer.content.decode()
    return answer.redirect_chain[-1][0] if has_form else None


def opens(path: str) -> bool:
    return form_of(path, Client()) is not None


def set_password(path: str, client: Client | None = None, password: str = NEW) -> str:
    """Set a password by this link; return the text of the next page."""
    client = client or Client()
    form = form_of(path, client)
    assert form
    assert path not in form, "the token leaves the address"
    body = {"new_password1": password, "new_password2": password}
    return client.post(form, body, follow=True).content.decode()


def signs_in(password: str, name: str = "ada") -> bool:
    client = Client(REMOTE_ADDR="192.0.2.1")
    client.post("/admin/login/", {"username": name, "password": password})
    return inside(client)


def test_the_login_page_leads_there() -> None:
    assert f'href="{ASK}"' in Client().get("/admin/login/").content.decode()


@pytest.mark.parametrize(("hers", "desk_s"), [("en", "es"), ("es", "en")])
def test_the_page_to_sign_in_says_one_language(
    ada: User, settings: Settings, hers: str, desk_s: str
) -> None:
    Preferences.objects.create(user=ada, language=hers)
    settings.DESK_LANGUAGE = desk_s
    ask("ada")

    html = set_password(link())

    messages = {"en": "Your password is set.", "es": "Su contraseña está lista."}
    assert f'<html lang="{desk_s}"' in html
    assert messages[desk_s] in html
    assert messages[hers] not in html


@pytest.mark.parametrize("name", ["ada", "Ada@desk.example"])
def test_a_link_by_email_sets_a_new_password(ada: User, name: str) -> None:
    assert CONFIRMATION in ask(name).content.decode()
    assert Mail.objects.get().address == "ada@desk.example"
    assert "user name ada" in str(Mail.objects.get().secret_text)

    html = set_password(link())

    assert "Your password is set. Sign in as ada." in html
    assert signs_in(NEW)
    assert not signs_in("secret")
    mail = Mail.objects.order_by("-created_at")[0]
    assert (mail.subject, mail.address) == (
        "Your password for the desk was changed",
        "ada@desk.example",
    )


def test_the_answer_is_the_same_whether_there_is_somebody() -> None:
    build.agent("off")
    User.objects.filter(username="off").update(is_active=False, email="off@desk.example")

    pages = {
        re.sub(r'csrfmiddlewaretoken" value="\w+|nonce[^>]*', "", ask(name).content.decode())
        for name in ("ada", "nobody", "off@desk.example", "nobody@desk.example")
    }

    assert len(pages) == 1
    assert Mail.objects.count() == 1
    assert ResetRequest.objects.filter(address="192.0.2.1").count() == 4


def test_task_is_queued_for_unknown_names_too(
    django_capture_on_commit_callbacks: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    rung: list[str] = []
    monkeypatch.setattr("core.jobs.doorbell.ring_job", lambda name: rung.append(name))

    for name in ("ada", "nobody"):
        with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
            ask(name)

    assert rung == ["send_mails"] * 2


def test_what_was_typed_is_not_kept(ada: User) -> None:
    ask("somebody@private.example")

    assert "private" not in str(list(ResetRequest.objects.values()))


@pytest.mark.parametrize(
    "changes",
    [{"is_active": False}, {"is_staff": False}, {"password": "!unusable"}, {"email": ""}],
    ids=str,
)
def test_no_link_for_users_who_cannot_sign_in(ada: User, changes: dict[str, object]) -> None:
    User.objects.filter(pk=ada.pk).update(**changes)

    assert CONFIRMATION in ask("ada").content.decode()

    assert not Mail.objects.exists()


def test_everybody_of_a_shared_address_gets_one(ada: User) -> None:
    User.objects.filter(pk=build.agent("eve").user_id).update(email="ADA@desk.example")

    ask("ada@desk.example")

    texts = [str(mail.secret_text) for mail in Mail.objects.all()]
    assert len(texts) == 2
    assert sorted(re.findall(r"user name (\w+)", " ".join(texts))) == ["ada", "eve"]


def test_the_email_and_the_page_are_in_the_user_s_language(ada: User) -> None:
    Preferences.objects.create(user=ada, language="es")

    ask("ada")

    assert Mail.objects.get().subject == "Una contraseña nueva para la mesa de ayuda"
    html = Client().get(link(), follow=True).content.decode()
    assert "Contraseña nueva" in html


def test_a_link_works_once() -> None:
    ask("ada")
    first = link()
    late = Client()
    waiting = form_of(first, late)
    set_password(first)

    assert not opens(first)
    body = {"new_password1": "another-horse-9", "new_password2": "another-horse-9"}
    assert waiting
    late.post(waiting, body)
    assert signs_in(NEW)


def test_of_two_who_send_the_same_form_at_a_time_one_is_refused(
    monkeypatch: pytest.MonkeyPatch, ada: User
) -> None:
    ask("ada")
    path, hashed = link(), resets.make_password

    def while_another_comes(password: str) -> str:
        User.objects.filter(pk=ada.pk).update(password=hashed("another-horse-9"))
        return hashed(password)

    monkeypatch.setattr(resets, "make_password", while_another_comes)

    assert "This link was used meanwhile" in set_password(path)
    assert signs_in("another-horse-9")


def test_a_link_lives_for_an_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    ask("ada")

    def after(minutes: int) -> bool:
        now = timezone.now().replace(tzinfo=None) + timedelta(minutes=minutes)
        monkeypatch.setattr(resets.reset_tokens, "_now", lambda: now)
        return opens(link())

    assert after(minutes=59)
    assert not after(minutes=61)


def test_a_link_ends_with_a_sign_in_and_with_switching_off(ada: User) -> None:
    ask("ada")
    User.objects.filter(pk=ada.pk).update(is_active=False)
    assert not opens(link())
    User.objects.filter(pk=ada.pk).update(is_active=True)
    assert opens(link())

    assert signs_in("secret")

    assert not opens(link())


def test_an_invitation_s_link_resets_nothing_and_the_other_way_round(ada: User) -> None:
    ask("ada")
    path = link()

    assert not opens(path.replace("password-reset", "invitation"))
    assert not opens(path[:-1] + ("0" if path[-2] != "0" else "1") + "/")


def test_a_later_request_leaves_the_earlier_link(ada: User) -> None:
    ask("ada")
    first = link()
    ask("ada")

    assert opens(first)


def test_all_sessions_end_also_the_one_in_which_it_is_done(ada: User) -> None:
    elsewhere = [sign_in(), sign_in()]
    here = sign_in()
    ask("ada")

    html = set_password(link(), here)

    assert "Your password is set." in html
    assert not any(inside(each) for each in (*elsewhere, here))
    assert not Session.objects.exists()
    entry = AuditEntry.objects.get(act="reset_password")
    assert (entry.actor, entry.about) == ("ada", "user ada")
    assert entry.details == {"sessions_ended": 2}, "the own one was signed out before"


def test_the_second_factor_is_still_asked(ada: User) -> None:
    switch_on(sign_in())
    ask("ada")
    set_password(link())
    client = Client()

    client.post("/admin/login/", {"username": "ada", "password": NEW})

    assert client.get("/admin/").headers["Location"] == "/admin/second-factor/code/"


def test_a_weak_password_is_refused_and_the_link_still_works(ada: User) -> None:
    ask("ada")

    assert "too short" in set_password(link(), password="short")
    assert opens(link())


def test_whoever_was_locked_out_gets_in_with_the_new_password() -> None:
    for _ in range(5):
        assert not signs_in("guess")
    assert not signs_in("secret")
    ask("ada")

    set_password(link())

    assert signs_in(NEW)


def test_a_name_is_bounded_for_whoever_asks() -> None:
    for _ in range(3):
        ask("ada")

    refused = ask(" ADA ")

    assert refused.status_code == 429
    assert refused["Retry-After"] == "3600"
    assert "Too many requests." in refused.content.decode()
    assert 'value=" ADA "' in refused.content.decode()
    assert Mail.objects.count() == 3
    assert ask("eve").status_code == 200


def test_requests_from_elsewhere_do_not_lock_the_owner_out() -> None:
    for _ in range(4):
        ask("ada", at="198.51.100.7")

    assert CONFIRMATION in ask("ada", at="203.0.113.1").content.decode()

    assert Mail.objects.count() == 4


def test_a_known_device_has_a_bound_of_its_own_also_at_the_same_address() -> None:
    owner = sign_in()
    owner.post("/admin/logout/")
    for number in range(20):
        ask("ada" if number < 3 else f"name-{number}")
    assert ask("ada").status_code == 429

    answers = [ask("Ada@desk.example", client=owner).status_code for _ in range(4)]

    assert answers == [200, 200, 200, 429]
    assert Mail.objects.count() == 6
    # For another account the device is unknown.
    assert ask("eve", client=owner).status_code == 429


def test_many_addresses_fill_no_mailbox_and_take_no_link_from_its_owner(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert resets.OF_A_MAILBOX == 10
    monkeypatch.setattr(resets, "OF_A_MAILBOX", 4)
    owner = sign_in()
    owner.post("/admin/logout/")
    pages = {ask("ada", at=f"198.51.100.{number}").redirect_chain[-1] for number in range(6)}

    assert pages == {(f"{ASK}?sent=1", 302)}, "nobody reads that the mailbox has enough"
    assert Mail.objects.count() == 4
    oldest = Mail.objects.order_by("created_at")[0]
    assert opens(re.findall(r"http://testserver(\S+)", str(oldest.secret_text))[0])
    ask("ada", client=owner, at="198.51.100.1")
    assert Mail.objects.count() == 5

    # A sign-in ends valid links, so that a new one is sent.
    assert signs_in("secret")
    ask("ada", at="198.51.100.9")
    assert Mail.objects.count() == 6


@pytest.mark.parametrize(
    "spelling", ["\u0131rina", "ir\u0131na", "\u0131r\u0131na", "\u017fam", "\u0130rina"]
)
def test_names_are_counted_by_the_folding_that_matches_them(ada: User, spelling: str) -> None:
    plain = "sam" if "\u017f" in spelling else "irina"
    User.objects.filter(pk=ada.pk).update(email=f"{plain}@desk.example")

    for name in (plain, plain.upper(), spelling):
        for _ in range(3):
            ask(f"{name}@desk.example")

    assert Mail.objects.count() == 3


def test_a_name_that_is_nobody_s_is_bounded_alike() -> None:
    assert [ask("nobody").status_code for _ in range(4)] == [200, 200, 200, 429]


def test_an_address_is_bounded_whatever_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert resets.OF_AN_ADDRESS == 20
    monkeypatch.setattr(resets, "OF_AN_ADDRESS", 4)
    for number in range(4):
        ask(f"name-{number}", at=f"2001:db8:0:1:{number}::7")

    assert ask("ada", at="2001:db8:0:1:ffff::1").status_code == 429
    assert ask("ada", at="2001:db8:0:2::1").status_code == 200


def test_the_bounds_open_by_themselves_and_trying_makes_it_no_longer() -> None:
    for _ in range(6):
        ask("ada")
    assert ResetRequest.objects.exclude(address=None).count() == 3

    ResetRequest.objects.update(asked_at=F("asked_at") - timedelta(minutes=61))

    assert ask("ada").status_code == 200


@pytest.mark.parametrize(
    "changes",
    [{"EMAIL_BACKEND": "django.core.mail.backends.console.EmailBackend"}, {"ALLOWED_HOSTS": ["*"]}],
    ids=["no mail", "any host"],
)
def test_is_not_offered_where_the_link_reaches_nobody_or_leads_anywhere(
    settings: Settings, changes: dict[str, object]
) -> None:
    settings.ENVIRONMENT = "production"
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.ALLOWED_HOSTS = ["testserver"]
    assert CONFIRMATION in ask("ada").content.decode()
    for name, value in changes.items():
        setattr(settings, name, value)

    html = ask("ada").content.decode()

    assert "cannot send emails" in html
    assert 'name="name"' not in html
    assert Mail.objects.count() == 1


def test_an_empty_name_is_asked_for_again() -> None:
    html = ask("  ").content.decode()

    assert "This field is required." in html
    assert not ResetRequest.objects.exists()


def test_prune_deletes_old_requests() -> None:
    ask("somebody")
    ask("eve")
    ResetRequest.objects.filter(pk=ResetRequest.objects.earliest("pk").pk).update(
        asked_at=timezone.now() - timedelta(days=2)
    )

    call_command("prune", "--older-than", "30", stdout=StringIO())

    assert ResetRequest.objects.count() == 1
