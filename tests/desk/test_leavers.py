"""Forgetting people who left: their belongings go, and their name stays on their acts."""

from io import StringIO

import pytest
from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.apps import apps
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.utils import timezone

from companies.models import AuditEntry
from core.models import Mail
from desk.models import Invitation, Preferences, SavedView, SeenSession, SignOn, Visit
from desk.people import leavers, second_factor
from tests import builders as build
from tests.erasing.columns import KEPT_REASONS, PEOPLE, places_of
from tickets.models import Absence, Agent, HistoryEntry, Notification, Ticket, Watch
from tickets.statuses import Status

WORD = "zebracanary"
# Rows that keep the user who left: the account itself, and the agent of old tickets.
STAYS = {"auth_user", "tickets_agent", "auth_group", "auth_permission"}


def person(name: str, word: str, ticket: Ticket) -> User:
    """Create somebody with one row of everything that is stored about people at the desk."""
    user = User.objects.create_user(
        name, f"{word}@example.com", word, first_name=word, last_name=word, is_staff=True
    )
    agent, now = Agent.objects.create(user=user), timezone.now()
    device = second_factor.begin_setup(user)
    device.name = word
    device.save()
    second_factor.make_codes(user)
    for model in (AccessAttempt, AccessLog, AccessFailureLog):
        extra = {"failures_since_start": 1} if model is AccessAttempt else {}
        model.objects.create(
            username=name.upper(), user_agent=word, ip_address="192.0.2.7", **extra
        )
    SeenSession.objects.create(digest=name, user=user, browser=word, system=word, seen_at=now)
    SignOn.objects.create(user=user, issuer="https://login.example.com", subject=word)
    Invitation.objects.create(user=user, invited_by=word, sent_at=now)
    Preferences.objects.create(user=user, language="es")
    SavedView.objects.create(owner=user, name=word, query=f"q={word}")
    SavedView.objects.create(owner=user, name="the team's", query="q=x", shared=True)
    Visit.objects.create(user=user, ticket=ticket, seen_at=now, alive_at=now)
    at = {"ticket": ticket, "created_at": now}
    Notification.objects.create(
        **at, recipient=user, kind=Notification.Kind.ANSWERED, by="company", actor=word
    )
    Watch.objects.create(**at, agent=agent)
    Absence.objects.create(agent=agent, starts_at=now, ends_at=now.replace(year=2040), reason=word)
    HistoryEntry.objects.create(**at, by="agent", actor=name, now=Status.ACCEPTED, reason="Seen.")
    Mail.objects.create(
        address=f"{word.upper()}@example.com", subject=word, text=word, created_at=now, due_at=now
    )
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session.save()
    return user


@pytest.fixture
def leaver(db: None) -> User:
    ticket = build.ticket(build.company("Acme Ltd"))
    person("eve", "quaggacanary", ticket)
    user = person("ada", WORD, ticket)
    user.is_active = False
    user.save()
    return user


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("forget_user", *arguments, stdout=out)
    return out.getvalue()


def rows_about_people() -> dict[str, int]:
    tables = {table for table, why in KEPT_REASONS.items() if why is PEOPLE}
    models = [model for model in apps.get_models() if not model._meta.proxy]
    return {
        model._meta.db_table: model.objects.count()
        for model in models
        if model._meta.db_table in tables - STAYS
    }


def test_personal_rows_go_and_acts_stay(leaver: User) -> None:
    others, before = places_of("quaggacanary"), rows_about_people()
    # Create two of each, one of whom leaves: a row that this test does not create is not covered.
    missing = {table for table, number in before.items() if not number}
    assert missing <= {"axes_accessattemptexpiration", "desk_resetrequest"}

    assert run("ada").startswith("forgot ada: 1 sign-ins, 1 wrong passwords, 1 failed sign-ins,")

    assert places_of(WORD) == {}
    assert places_of("quaggacanary") == others
    after = rows_about_people()
    assert after == {table: number / 2 for table, number in before.items()}
    assert [Session.objects.count(), Visit.objects.count(), Watch.objects.count()] == [1, 1, 1]
    leaver.refresh_from_db()
    assert (leaver.username, leaver.has_usable_password()) == ("ada", False)
    assert HistoryEntry.objects.filter(actor="ada").count() == 1
    assert list(SavedView.objects.filter(owner=leaver).values_list("name", flat=True)) == [
        "the team's"
    ]
    entry = AuditEntry.objects.get(act="forget_user")
    assert (entry.about, entry.outcome) == ("user ada", "forgot ada")


def test_forgetting_twice_changes_nothing(leaver: User) -> None:
    run("ada")

    assert run("ada") == "forgot ada: no rows beside the user\n"


def test_a_rehearsal_forgets_nothing(leaver: User) -> None:
    before = places_of(WORD)

    assert run("ada", "--dry-run").startswith("would forget ada: 1 sign-ins, ")

    assert places_of(WORD) == before


def test_who_is_active_is_not_forgotten(leaver: User) -> None:
    before = places_of("quaggacanary")

    with pytest.raises(CommandError, match=r"eve is active; switch the user off first\."):
        run("eve")

    assert places_of("quaggacanary").items() >= before.items()
    with pytest.raises(leavers.UserStillActive):
        leavers.forget_user(User.objects.get(username="eve"), dry_run=True)
