"""The audit log and Django's admin log as one list, in the shell and at the desk."""

import json
import time
from codecs import BOM_UTF8
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from companies import audit
from companies.models import AuditEntry, Company
from desk.management.commands import audit as command
from desk.people import audit_trail
from desk.people.audit_trail import AuditFilters, act_place, acts
from tests import builders as build
from tests.plans import offer_only
from tickets import roles


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("audit", *arguments, stdout=out)
    return out.getvalue()


def rows(*arguments: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run(*arguments, "--json").splitlines()]


@pytest.fixture
def olga(db: None) -> User:
    return roles.create_user("olga", "long-Enough-9812", "operator")


def add_audit_entry(act: str, actor: str = "olga@desk1", **about: Any) -> AuditEntry:
    return audit.record_act(act, actor=actor, via=AuditEntry.Via.COMMAND, **about)


def logged(user: User, thing: Any, message: str = "Changed active.") -> LogEntry:
    return LogEntry.objects.log_actions(user.pk, [thing], CHANGE, message)


@pytest.fixture
def history(olga: User, company: Company) -> None:
    add_audit_entry("drain", details={"reason": "night"})
    logged(olga, company)
    add_audit_entry("revoke_token", "paul@desk2", company_id=company.pk, about="two tokens")
    logged(olga, build.company("Birch"))


def test_acts_of_commands_and_of_the_desk_are_one_list(history: None, company: Company) -> None:
    entries = rows()

    assert [(one["act"], one["actor"], one["log"]) for one in entries] == [
        ("change", "olga", "desk"),
        ("revoke_token", "paul@desk2", "audit"),
        ("change", "olga", "desk"),
        ("drain", "olga@desk1", "audit"),
    ]
    assert entries[2]["company_id"] == company.pk
    assert entries[2]["outcome"] == "Changed active."
    assert "drain  reason=night  → done" in run().splitlines()[-1]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--actor", "olga"], ["change", "change", "drain"]),
        (["--actor", "olga@desk1"], ["drain"]),
        (["--act", "revoke_token"], ["revoke_token"]),
        (["--act", "change"], ["change", "change"]),
        (["--limit", "1"], ["change"]),
        (["--since", "1h"], ["change", "revoke_token", "change", "drain"]),
        (["--since", "2999-01-01"], []),
        (["--until", "1h"], []),
    ],
)
def test_filters_narrow_the_list(history: None, options: list[str], expected: list[str]) -> None:
    assert [one["act"] for one in rows(*options)] == expected


def test_what_was_done_to_a_company_is_found(history: None, company: Company) -> None:
    assert [one["act"] for one in rows("--company", str(company.pk))] == ["revoke_token", "change"]


def test_pages_have_every_act_once_also_those_of_one_moment(olga: User, company: Company) -> None:
    for _ in range(5):
        add_audit_entry("drain")
        logged(olga, company)
    now = timezone.now()
    LogEntry.objects.update(action_time=now)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        AuditEntry.objects.update(at=now)
        cursor.execute("SET LOCAL session_replication_role = origin")

    listed_acts, before = [], ""
    while page := acts(AuditFilters(), before=before, limit=3):
        listed_acts += page
        assert len(listed_acts) <= 10
        before = act_place(page[-1])
    assert len(listed_acts) == 10
    assert listed_acts == acts(AuditFilters(), limit=100)


def test_long_list_is_read_in_batches(
    history: None, monkeypatch: pytest.MonkeyPatch, company: Company
) -> None:
    monkeypatch.setattr(command, "AT_ONCE", 1)

    assert len(rows("--limit", "0")) == 4
    assert len(rows("--limit", "3")) == 3


def test_follow_prints_each_act_once(
    history: None, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = iter(["resume", "hold_host", None])

    def wait(seconds: float) -> None:
        act = next(waits)
        if act is None:
            raise KeyboardInterrupt
        add_audit_entry(act)

    monkeypatch.setattr(time, "sleep", wait)

    first_rows = rows("--follow", "--limit", "2")
    assert [one["act"] for one in first_rows] == ["revoke_token", "change", "resume", "hold_host"]


@pytest.mark.parametrize(
    ("filters", "indexes"),
    [
        (AuditFilters(), {"audit_by_time", "desk_log_by_time"}),
        (AuditFilters(actor="olga"), {"audit_by_actor", "desk_log_by_user"}),
        (AuditFilters(act="change"), {"audit_by_act", "desk_log_by_act"}),
        (AuditFilters(company_id=1), {"audit_by_company", "desk_log_by_object"}),
    ],
    ids=["all", "actor", "act", "company"],
)
def test_an_index_fits_each_question(
    history: None, filters: AuditFilters, indexes: set[str]
) -> None:
    offer_only(*indexes)
    plans = ""
    for source, at, chosen in audit_trail.sources(filters):
        place = (timezone.now(), 1, 5)
        page = chosen.filter(audit_trail.older_than(place, source, at)).order_by(f"-{at}", "-pk")[
            :50
        ]
        plans += page.explain()

    assert {name for name in indexes if name in plans} == indexes
    assert "Seq Scan on companies_auditentry" not in plans
    assert "Seq Scan on django_admin_log" not in plans


def test_only_operators_and_auditors_see_the_page(
    history: None, desk: Client, operator: Client
) -> None:
    auditor = Client()
    auditor.force_login(roles.create_user("otto", "long-Enough-9812", "auditor"))

    assert desk.get("/admin/audit/").status_code == 403
    assert desk.get("/admin/audit.csv").status_code == 403
    for reader in (operator, auditor):
        page = reader.get("/admin/audit/")
        assert page.status_code == 200
        assert "revoke_token" in page.text
    assert 'href="/admin/audit/"' in operator.get("/admin/audit/").text


def test_the_page_is_narrowed_and_read_in_pages(history: None, operator: Client) -> None:
    for number in range(60):
        add_audit_entry("drain", about=f"number {number:02}")

    first = operator.get("/admin/audit/?act=drain")
    assert "number 59" in first.text
    assert "number 09" not in first.text
    older = operator.get(f"/admin/audit/?{first.context['older']}")
    assert "number 09" in older.text
    assert "number 59" not in older.text
    assert "older" not in older.context
    assert "number 59" not in operator.get("/admin/audit/?until=2001-01-01").text
    assert operator.get("/admin/audit/?company_id=x").status_code == 400
    assert operator.get("/admin/audit/?before=nonsense").status_code == 200


def test_export_has_the_filtered_acts(history: None, operator: Client) -> None:
    add_audit_entry("drain", about='=HYPERLINK("x")')

    content = b"".join(operator.get("/admin/audit.csv?act=drain"))
    lines = content.removeprefix(BOM_UTF8).decode().splitlines()

    assert content.startswith(BOM_UTF8)
    assert len(lines) == 3
    assert "'=HYPERLINK" in lines[1]
    assert "reason=night" in lines[2]


def test_killed_command_has_no_outcome(operator: Client) -> None:
    audit.begin_entry("drain", actor="olga@desk1", via=AuditEntry.Via.COMMAND)

    assert "→ no outcome" in run()
    assert "not ended, or killed" in operator.get("/admin/audit/").text


def test_until_lists_older_acts(history: None) -> None:
    LogEntry.objects.update(action_time=timezone.now() - timedelta(days=3))

    assert [one["act"] for one in rows("--until", "2d")] == ["change", "change"]
