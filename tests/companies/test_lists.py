"""Shell lists of companies and their tokens."""

import json
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from companies.models import ApiToken, AuditEntry, Company
from deliveries import publishing
from desk.people import company_glances as glances
from tests import builders as build


def run(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def rows(*arguments: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run(*arguments, "--json").splitlines()]


def prefix() -> str:
    return ApiToken.objects.latest("pk").prefix


def test_a_company_is_seen_at_a_glance(company: Company) -> None:
    build.webhook(company)
    build.webhook(company, url="https://b.example/hook", active=False)
    build.webhook(company, url="https://c.example/hook", deleted_at=timezone.now())
    build.ticket(company)
    publishing.publish([build.news(company, shipment) for shipment in (1, 2)])
    run("issue_token", str(company.pk))
    ApiToken.objects.update(last_used_at="2026-01-02 03:04:05+00:00")
    build.company("Birch")

    assert rows("list_companies")[0] == {
        "id": company.pk,
        "name": company.name,
        "active": True,
        "webhooks_active": 1,
        "webhooks_paused": 1,
        "open_tickets": 1,
        "waiting": 4,
        "waiting_is_more": False,
        "last_used_at": "2026-01-02T03:04:05+00:00",
    }
    head, acme, birch = run("list_companies").splitlines()
    assert head.split()[:2] == ["id", "active"]
    assert acme.split()[1:6] == ["yes", "1", "(1", "paused)", "1"]
    assert acme.split()[6:] == ["4", "2026-01-02", "03:04", "Acme"]
    assert birch.endswith("never             Birch")


def test_companies_are_chosen_and_read_in_steps(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(glances, "STEP", 2)
    for number in range(4):
        build.company(f"Birch {number}", active=number != 2)

    with CaptureQueriesContext(connection) as queries:
        assert len(rows("list_companies")) == 5
    assert len(queries) <= 3 * 5
    assert [one["name"] for one in rows("list_companies", "--inactive")] == ["Birch 2"]
    assert len(rows("list_companies", "--search", "birch")) == 4
    assert len(rows("list_companies", "--limit", "3")) == 3


def test_a_name_moves_no_cursor(db: None) -> None:
    build.company("Ev\x1b[2Jil\u202e")

    listed = run("list_companies")
    assert "Ev" in listed
    assert "il" in listed
    assert "\x1b" not in listed
    assert "\u202e" not in listed


def test_live_tokens_are_listed_and_never_shown(company: Company) -> None:
    token = run("issue_token", str(company.pk), "--expires-in", "30").strip()
    run("issue_token", str(company.pk))
    run("revoke_token", prefix())
    run("issue_token", str(build.company("Birch").pk))

    assert [(one["state"], one["company"]) for one in rows("list_tokens")] == [
        ("live", "Acme"),
        ("live", "Birch"),
    ]
    text = run("list_tokens", "--all", "--company", str(company.pk))
    assert [line.split()[1] for line in text.splitlines()] == ["live", "revoked"]
    assert token[:13] in text
    assert token not in text


def test_tokens_that_nobody_uses_are_found(company: Company) -> None:
    now = timezone.now()
    for used, age in ((1, 90), (40, 90), (None, 90), (None, 1)):
        run("issue_token", str(company.pk))
        ApiToken.objects.filter(prefix=prefix()).update(
            last_used_at=used and now - timedelta(days=used),
            created_at=now - timedelta(days=age),
        )

    tokens = list(ApiToken.objects.order_by("pk"))
    assert [one["token"] for one in rows("list_tokens", "--unused-for", "30")] == [
        str(tokens[1]),
        str(tokens[2]),
    ]


def test_all_of_a_company_s_tokens_are_revoked_at_once(company: Company) -> None:
    for _ in range(2):
        run("issue_token", str(company.pk))
    run("issue_token", str(build.company("Birch").pk))

    rehearsed = run("revoke_token", "--company", str(company.pk), "--dry-run")
    assert rehearsed.count("would revoke test_") == 2
    assert ApiToken.objects.filter(revoked_at=None).count() == 3

    run("revoke_token", "--company", str(company.pk))

    assert ApiToken.objects.get(revoked_at=None).company.name == "Birch"
    entry = AuditEntry.objects.get(act="revoke_token")
    assert (entry.company_id, entry.outcome) == (company.pk, "revoked 2 tokens")
    assert run("revoke_token", "--company", str(company.pk)) == "there is no live token\n"
    with pytest.raises(CommandError, match="There is no company 7777777"):
        run("revoke_token", "--company", "7777777")


def test_a_rehearsal_revokes_no_token(company: Company) -> None:
    run("issue_token", str(company.pk))

    assert run("revoke_token", prefix(), "--dry-run").startswith("would revoke test_")
    assert ApiToken.objects.get().revoked_at is None
