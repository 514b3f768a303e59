"""Agents are added from a file and by invitation."""

import re
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from companies.models import AuditEntry
from core.models import Mail
from desk.joining import invitations
from desk.models import Invitation, Preferences
from desk.people.mailed_links import LinkOver
from tests import builders as build
from tickets import roles
from tickets.models import Agent

pytestmark = pytest.mark.django_db
PAGE = "/admin/agents/add/"
HEADER = "login,first name,last name,e-mail,group,zone,language,types,capacity\n"
GOOD = (
    HEADER
    + "maria,María,González,maria@desk.example,lead,America/Mexico_City,es,3 5,20\n"
    + "juan,,,juan@desk.example,,,,,\n"
)
ONE = {"step": "one", "login": "maria", "email": "maria@desk.example", "group": "agent"}
PASSWORD = "correct-horse-9"


@pytest.fixture
def lead() -> Client:
    client = Client()
    client.force_login(build.agent("lea", group="lead").user)
    return client


def upload(client: Client, text: str | bytes) -> str:
    content = text if isinstance(text, bytes) else text.encode()
    file = SimpleUploadedFile("agents.csv", content, "text/csv")
    return page_text(client.post(PAGE, {"step": "file", "file": file}))


def page_text(answer: HttpResponse) -> str:
    return answer.content.decode()


def new_logins() -> list[str]:
    return sorted(User.objects.exclude(username="lea").values_list("username", flat=True))


def link() -> str:
    """Return the link in the newest email."""
    match = re.search(r"http://testserver(/admin/invitation/\S+)", str(newest().secret_text))
    assert match
    return match[1]


def newest() -> Mail:
    return Mail.objects.order_by("-created_at")[0]


def opens(path: str) -> bool:
    return 'name="new_password1"' in page_text(Client().get(path, follow=True))


def test_a_file_is_shown_before_anybody_is_added(lead: Client) -> None:
    html = upload(lead, GOOD)

    assert "2 agents will be added" in html
    assert "maria@desk.example" in html
    assert new_logins() == []
    assert not Mail.objects.exists()

    lead.post(PAGE, {"step": "add", "text": GOOD})

    assert new_logins() == ["juan", "maria"]
    maria = Agent.objects.get(user__username="maria")
    assert (maria.user.first_name, maria.time_zone, maria.capacity) == (
        "María",
        "America/Mexico_City",
        20,
    )
    assert [one.pk for one in maria.skills.all()] == [3, 5]
    assert maria.user.groups.get().name == "lead"
    assert Preferences.objects.get(user=maria.user).language == "es"
    assert {one.address for one in Mail.objects.all()} == {
        "maria@desk.example",
        "juan@desk.example",
    }


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n"])
def test_a_file_may_have_the_line_ends_of_any_program(lead: Client, end: str) -> None:
    lead.post(PAGE, {"step": "add", "text": GOOD.replace("\n", end)})

    assert new_logins() == ["juan", "maria"]


@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\u00a0"])
def test_unusual_line_separator_is_a_space_in_its_cell(lead: Client, sign: str) -> None:
    lead.post(PAGE, {"step": "add", "text": GOOD.replace("María", f"Ana{sign}María")})

    assert User.objects.get(username="maria").first_name == "Ana María"


def test_one_bad_line_and_nobody_is_added_and_each_fault_is_named(lead: Client) -> None:
    bad = (
        HEADER
        + "ana,,,ana@desk.example,,,,,\n"
        + "lea,,,nobody,boss,Mars/Base,zxx,x,0\n"
        + "ANA,,,,,,,99,\n"
    )

    languages = ", ".join(code for code, _ in settings.LANGUAGES)

    html = upload(lead, bad)
    lead.post(PAGE, {"step": "add", "text": bad})

    for message in (
        "Line 3, login: A user with that username already exists.",
        "Line 3, e-mail: Enter a valid email address.",
        "Line 3, group: Write agent or lead.",
        "Line 3, zone: There is no time zone Mars/Base.",
        f"Line 3, language: Write {languages}, or leave it empty.",
        "Line 3, types: Write IDs of ticket types",
        "Line 3, capacity: Enter a whole number from 1 on.",
        "Line 4, login: The login is in line 2 already.",
        "Line 4, e-mail: Enter an e-mail address",
    ):
        assert message in html, message
    assert "Line 2" not in html
    assert new_logins() == []
    assert not Invitation.objects.exists()
    assert not Mail.objects.exists()


def test_an_unknown_type_is_named(lead: Client) -> None:
    html = upload(lead, "login;correo;tipos\nana;ana@desk.example;99\n")

    assert "Line 2, types: There is no ticket type 99." in html


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "The file is empty."),
        (b"\xff\xfe", "not UTF-8"),
        (b"login,e-mail\n", "There is no agent below the header."),
        (b"login,shoe size\nana,40\n", "unknown column “shoe size”"),
        (b"login\nana\n", "The header lacks e-mail."),
        (b"login,e-mail\nana,a@b.example,x\n", "Line 2 has more columns"),
        (b"login,e-mail\n" + b"a,b\n" * 501, "Add at most 500"),
        (b"x" * (256 * 1024 + 1), "larger than 256 KiB"),
    ],
)
def test_a_file_that_is_no_table_of_agents_is_refused(
    lead: Client, content: bytes, message: str
) -> None:
    assert message in upload(lead, content)
    assert new_logins() == []


def test_a_wrong_field_of_one_agent_keeps_what_was_entered(lead: Client) -> None:
    html = page_text(lead.post(PAGE, {**ONE, "zone": "Mars/Base"}))

    assert "There is no time zone Mars/Base." in html
    assert 'value="maria@desk.example"' in html
    assert new_logins() == []


def test_invited_agent_sets_a_password_once_and_then_gets_tickets(
    lead: Client,
) -> None:
    lead.post(PAGE, ONE)
    assert not Agent.objects.get(user__username="maria").available
    visitor = Client()

    form = visitor.get(link(), follow=True)
    chosen = {"new_password1": PASSWORD, "new_password2": PASSWORD}
    assert link() not in form.redirect_chain[-1][0], "the token leaves the address"
    visitor.post(form.redirect_chain[-1][0], chosen)

    assert User.objects.get(username="maria").check_password(PASSWORD)
    assert Agent.objects.get(user__username="maria").available
    assert not opens(link())


def test_a_weak_password_is_refused_and_the_link_still_works(lead: Client) -> None:
    lead.post(PAGE, ONE)
    visitor = Client()
    address = visitor.get(link(), follow=True).redirect_chain[-1][0]

    html = page_text(visitor.post(address, {"new_password1": "short", "new_password2": "short"}))

    assert "too short" in html
    assert Invitation.objects.get().accepted_at is None
    assert 'name="new_password1"' in page_text(Client().get(link(), follow=True))


def test_a_link_ends_when_it_is_sent_again_revoked_or_old(lead: Client) -> None:
    lead.post(PAGE, ONE)
    user, first = User.objects.get(username="maria"), link()
    change = f"/admin/agents/invitations/{user.pk}/"
    assert opens(first)

    lead.post(change, {"resend": "1"})
    second = link()
    assert (opens(first), opens(second)) == (False, True)

    lead.post(change, {"revoke": "1"})
    assert not opens(second)

    lead.post(change, {"resend": "1"})
    third = link()
    User.objects.filter(pk=user.pk).update(is_active=False)
    assert not opens(third)
    User.objects.filter(pk=user.pk).update(is_active=True)
    assert opens(third)


def test_a_link_is_valid_for_seven_days(lead: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    lead.post(PAGE, ONE)

    def after(**wait: int) -> bool:
        now = timezone.now().replace(tzinfo=None) + timedelta(**wait)
        monkeypatch.setattr("desk.joining.invitations.tokens._now", lambda: now)
        return opens(link())

    assert after(days=6, hours=23)
    assert not after(days=7, hours=1)


def test_an_accepted_invitation_is_not_sent_again(lead: Client) -> None:
    lead.post(PAGE, ONE)
    Invitation.objects.update(accepted_at=timezone.now())
    user = User.objects.get(username="maria")

    html = page_text(
        lead.post(f"/admin/agents/invitations/{user.pk}/", {"resend": "1"}, follow=True)
    )

    assert "This invitation was accepted." in html
    assert Mail.objects.count() == 1


def test_agents_neither_add_nor_invite(lead: Client) -> None:
    lead.post(PAGE, ONE)
    agent = Client()
    agent.force_login(build.agent("ben").user)
    user = User.objects.get(username="maria")

    assert agent.get(PAGE).status_code == 403
    assert agent.post(PAGE, {**ONE, "login": "eve"}).status_code == 403
    change = f"/admin/agents/invitations/{user.pk}/"
    assert agent.post(change, {"resend": "1"}).status_code == 403
    assert not User.objects.filter(username="eve").exists()
    assert Mail.objects.count() == 1


def test_nobody_assigns_a_group_above_their_own(lead: Client) -> None:
    roles.group("lead").permissions.remove(*build.permissions("assign_ticket"))
    roles.group("agent").permissions.add(*build.permissions("assign_ticket"))
    agent = User.objects.get(username="lea")
    assert not agent.has_perm("tickets.assign_ticket")

    html = page_text(lead.post(PAGE, ONE))

    assert "it may do more than you" in html
    assert new_logins() == []


def run_import(file: Path, text: str, *options: str) -> str:
    file.write_text(text)
    out = StringIO()
    call_command("import_agents", file, *options, stdout=out)
    return out.getvalue()


def test_the_command_checks_first_and_adds_with_apply(tmp_path: Path) -> None:
    file = tmp_path / "agents.csv"

    output = run_import(file, GOOD)
    assert "2 added and invited, 0 changed with --apply; nothing was changed." in output
    assert not User.objects.exists()
    assert not AuditEntry.objects.exists()
    with pytest.raises(CommandError, match="--url"):
        run_import(file, GOOD, "--apply")

    run_import(file, GOOD, "--apply", "--url", "https://desk.example")

    assert User.objects.count() == 2
    assert "https://desk.example/admin/invitation/" in str(newest().secret_text)
    assert AuditEntry.objects.latest("pk").outcome == "2 added and invited, 0 changed"


def test_importing_again_or_an_export_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "agents.csv"
    run_import(file, GOOD, "--apply", "--url", "https://desk.example")
    exported = StringIO()
    call_command("export_agents", stdout=exported)

    assert "\nmaria,María,González,maria@desk.example,lead,America/Mexico_City,es,3 5,20,on\n" in (
        exported.getvalue()
    )
    for text in (GOOD, exported.getvalue()):
        assert run_import(file, text, "--apply") == "0 added and invited, 0 changed.\n"
    assert Mail.objects.count() == 2


def test_a_file_changes_roles_and_more_and_leaves_what_it_does_not_name(tmp_path: Path) -> None:
    file = tmp_path / "agents.csv"
    run_import(file, GOOD, "--apply", "--url", "https://desk.example")
    maria = User.objects.get(username="maria")
    maria.groups.add(roles.group("auditor"))
    text = "login,e-mail,group,types,capacity\nmaria,,agent,all,7\n"

    output = run_import(file, text)
    assert "maria: group, types, capacity" in output
    assert {one.name for one in maria.groups.all()} == {"lead", "auditor"}

    run_import(file, text, "--apply")

    maria = User.objects.get(username="maria")
    assert {one.name for one in maria.groups.all()} == {"agent", "auditor"}
    assert (maria.agent.capacity, list(maria.agent.skills.all())) == (7, [])
    assert (maria.first_name, maria.email) == ("María", "maria@desk.example")
    assert (maria.agent.time_zone, maria.preferences.language) == ("America/Mexico_City", "es")
    assert User.objects.get(username="juan").is_active


def test_user_marked_off_is_switched_off_and_signed_out(tmp_path: Path, lead: Client) -> None:
    file = tmp_path / "agents.csv"
    text = "login,e-mail,state\nlea,,off\nnew,new@desk.example,off\n"

    run_import(file, text)
    assert lead.get(PAGE).status_code == 200
    run_import(file, text, "--apply")

    assert not User.objects.get(username="lea").is_active
    assert not Session.objects.exists()
    assert lead.get(PAGE).status_code == 302
    assert not User.objects.filter(username="new").exists()

    run_import(file, text.replace("off", "on", 1), "--apply")
    assert User.objects.get(username="lea").is_active
    assert lead.get(PAGE).status_code == 302


def test_one_bad_row_and_the_command_changes_nobody(tmp_path: Path) -> None:
    build.agent("lea")
    User.objects.create_user("audit")
    errors = StringIO()
    file = tmp_path / "agents.csv"
    file.write_text(
        "login,e-mail,group,zone,types,state,capacity\n"
        "lea,,lead,,,,9\n"
        "audit,,,,,,\n"
        "ben,no address,,,,,\n"
        "LEA,lea@desk.example,,,,gone,\n"
    )

    with pytest.raises(CommandError, match="No agent was added or changed"):
        call_command(
            "import_agents", file, "--apply", "--url", "https://desk.example", stderr=errors
        )

    for message in (
        "Line 3, login: This user is no agent.",
        "Line 4, e-mail: Enter a valid email address.",
        "Line 5, state: Write on or off, or leave it empty.",
        "Line 5, login: There is such a user, in upper or lower case.",
    ):
        assert message in errors.getvalue()
    assert Agent.objects.get(user__username="lea").capacity != 9
    assert User.objects.count() == 2


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ("lea,,Mars/Base,,", "zone: There is no time zone Mars/Base."),
        ("lea,,,99,", "types: There is no ticket type 99."),
        ("lea,nobody,,,", "e-mail: Enter a valid email address."),
        ("root,,,,off", "state: A superuser is not switched off by a file."),
    ],
)
def test_a_change_that_is_wrong_is_named(tmp_path: Path, cells: str, message: str) -> None:
    build.agent("lea")
    User.objects.filter(pk=build.agent("root").user.pk).update(is_superuser=True)
    errors = StringIO()
    file = tmp_path / "agents.csv"
    file.write_text(f"login,e-mail,zone,types,state\n{cells}\n")

    with pytest.raises(CommandError):
        call_command("import_agents", file, "--apply", stderr=errors)

    assert f"Line 2, {message}" in errors.getvalue()
    assert User.objects.filter(is_active=True).count() == 2


def test_invitation_that_is_revoked_after_its_page_was_opened_sets_no_password(
    lead: Client,
) -> None:
    user = build.agent("nina").user
    invitations.invite(user, by=user, url="https://desk.example")
    stale = User.objects.get(pk=user.pk)
    invitations.revoke(user.pk)

    with pytest.raises(LinkOver):
        invitations.accept(stale, "a long enough phrase")

    user.refresh_from_db()
    assert user.check_password("secret")
