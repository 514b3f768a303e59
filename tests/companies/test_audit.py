"""The audit log: an entry is written before the act, closed once, and cannot be forged later."""

import json
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import InternalError, connection, transaction
from django.db.utils import IntegrityError
from django.utils import timezone

from companies import audit, services
from companies.models import AuditEntry, Company

REFUSED = (IntegrityError, InternalError)


def run(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def test_a_command_is_written_down_without_its_secrets(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUDO_USER", "olga")
    token = services.issue_token(company.pk)

    answer = json.loads(run("revoke_token", token, "--json"))

    assert answer["company_id"] == company.pk
    entry = AuditEntry.objects.get()
    assert (entry.act, entry.via) == ("revoke_token", "command")
    assert entry.company_id == company.pk
    assert entry.actor.startswith("olga@")
    assert entry.outcome == f"revoked {answer['prefix']}… of company {company.pk}"
    assert entry.ended_at >= entry.at
    assert token not in f"{entry.details} {entry.outcome} {entry.about}"


def test_a_command_that_fails_is_written_down_too(db: None) -> None:
    with pytest.raises(CommandError):
        run("revoke_token", "nothing")

    assert AuditEntry.objects.get().outcome.startswith("failed: There is no live token")


def test_killed_command_has_no_outcome(db: None) -> None:
    audit.begin_entry("drain", actor="olga@desk1", via=AuditEntry.Via.COMMAND)

    entry = AuditEntry.objects.get()
    assert (entry.outcome, entry.ended_at) == (None, None)


def test_an_entry_is_ended_once_and_never_changed(db: None) -> None:
    entry = audit.record_act("drain", actor="olga@desk1", via=AuditEntry.Via.COMMAND)

    for change in ({"outcome": "nothing"}, {"actor": "nobody"}, {"ended_at": timezone.now()}):
        with pytest.raises(REFUSED), transaction.atomic():
            AuditEntry.objects.filter(pk=entry.pk).update(**change)
    open_entry = audit.begin_entry("drain", actor="olga@desk1", via=AuditEntry.Via.COMMAND)
    with pytest.raises(REFUSED), transaction.atomic():
        AuditEntry.objects.filter(pk=open_entry.pk).update(actor="nobody", outcome="done")


def test_an_entry_is_deleted_only_when_it_is_old(db: None) -> None:
    young, old = (
        audit.record_act("drain", actor="olga@desk1", via=AuditEntry.Via.COMMAND) for _ in range(2)
    )
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        AuditEntry.objects.filter(pk=old.pk).update(at=timezone.now() - timedelta(days=91))
        cursor.execute("SET LOCAL session_replication_role = origin")

    AuditEntry.objects.filter(pk=old.pk).delete()
    with pytest.raises(REFUSED), transaction.atomic():
        AuditEntry.objects.filter(pk=young.pk).delete()
    assert AuditEntry.objects.get() == young


def test_longer_names_are_blanked_before_the_names_within_them() -> None:
    private = ["Ana", "Ana Maria Ruiz"]

    assert audit.blanked("no Ana Maria Ruiz here\nsecond line", private) == "no … here"
    assert audit.blanked("Ana is", private) == "… is"
