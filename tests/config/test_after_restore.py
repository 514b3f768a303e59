"""A restored database is noticed, and no id is given a second time."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone
from rest_framework.test import APIClient

from companies import restoring, services
from companies.models import ApiToken, AuditEntry, Company
from core.models import Deployment
from core.watch import doctor
from tests import builders as build
from tests.config.test_settings import ROOT
from tests.core.test_doctor import examined
from tests.databases import Database, program_of_postgresql
from tickets.models import Ticket


@pytest.fixture(autouse=True)
def sequences_as_before(db: None) -> Iterator[None]:
    """Set the sequences back, because no transaction does and other tests share them."""
    statement = (
        "SELECT format('%I.%I', schemaname, sequencename), last_value FROM pg_sequences"
        " WHERE last_value IS NOT NULL"
    )
    with connection.cursor() as cursor:
        cursor.execute(statement)
        before = cursor.fetchall()
    yield
    with connection.cursor() as cursor:
        cursor.executemany("SELECT setval(%s::regclass, %s)", before)


@pytest.fixture
def restored(tmp_path: Path, transactional_db: None) -> Iterator[tuple[Database, Any]]:
    """Yield a database, and a function that restores a dump of the tests' database into it."""
    there = Database(f"{connection.settings_dict['NAME']}_restored")
    here = Database(str(connection.settings_dict["NAME"]))
    dump = tmp_path / "parceldesk.dump"

    def run(program: str, *arguments: str, of: Database) -> None:
        result = subprocess.run(
            [program_of_postgresql(program), *arguments],
            env={**os.environ, **of.access()},
            capture_output=True,
            text=True,
        )
        assert result.returncode == 0, result.stderr

    def make() -> None:
        run("pg_dump", "--format=custom", "--file", str(dump), of=here)

    def restore() -> None:
        with connection.cursor() as cursor:
            cursor.execute(f'CREATE DATABASE "{there.name}" TEMPLATE template0')
        run("pg_restore", "--dbname", there.name, "--exit-on-error", str(dump), of=there)

    yield there, (make, restore)
    with connection.cursor() as cursor:
        cursor.execute(f'DROP DATABASE IF EXISTS "{there.name}" WITH (FORCE)')


def manage(database: Database, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": database.url},
        capture_output=True,
        text=True,
    )


def largest_ids(database: Database) -> dict[str, int]:
    return {
        str(name): int(last)
        for name, last in database.ask(
            "SELECT sequencename, last_value FROM pg_sequences WHERE last_value IS NOT NULL"
        )
    }


def open_tickets(company: Company, number: int) -> None:
    for _ in range(number):
        build.ticket(company)


@pytest.mark.slow
def test_no_id_that_the_lost_database_gave_is_given_again(
    restored: tuple[Database, Any], tmp_path: Path
) -> None:
    there, (dump, restore) = restored
    restoring.note_origin(again=True)
    acme, birch = build.company("Acme"), build.company("Birch")
    for company in (acme, birch):
        build.webhook(company)
        build.webhook(company)
        open_tickets(company, 2)
    leaked = services.issue_token(acme.pk)
    kept_token = services.issue_token(birch.pk)
    dump()
    # The live service goes on; the restore loses ids, an erasure, a revocation and a new token.
    open_tickets(acme, 30)
    for number in range(20):
        build.webhook(build.company(f"Company {number}"))
    services.revoke_token(leaked)
    issued = services.issue_token(birch.pk)
    tokens, erased = tmp_path / "tokens.jsonl", tmp_path / "erased.jsonl"
    tokens.write_text(run("list_tokens", "--all", "--json"))
    erased.write_text(
        json.dumps({"company_id": acme.pk, "erased_at": timezone.now().isoformat()}) + "\n"
    )
    live = largest_ids(Database(str(connection.settings_dict["NAME"])))
    restore()

    warned = json.loads(manage(there, "doctor", "--only", "restored", "--json").stdout)
    assert warned["checks"][0]["grade"] == "warn"
    assert "after_restore" in warned["checks"][0]["cure"]

    arguments = ["--tokens", str(tokens), "--erased", str(erased)]
    looked = manage(there, "after_restore", *arguments, "--dry-run", "--json")
    assert looked.returncode == 0, looked.stderr
    plan = json.loads(looked.stdout)
    assert (plan["noticed"], plan["done"], plan["erase"]) == (True, False, [acme.pk])
    assert plan["revoke"] == [f"{leaked[:13]}…"]
    assert plan["reissue"] == [f"{issued[:13]}… of company {birch.pk}"]
    assert largest_ids(there)["tickets_ticket_id_seq"] < live["tickets_ticket_id_seq"]

    refused = manage(there, "after_restore", *arguments, "--confirm", "parceldesk")
    assert (refused.returncode, "Nothing was changed" in refused.stderr) == (1, True)
    unasked = manage(there, "after_restore", *arguments)
    assert (unasked.returncode, "--confirm" in unasked.stderr) == (1, True)
    assert largest_ids(there)["tickets_ticket_id_seq"] < live["tickets_ticket_id_seq"]

    result = manage(there, "after_restore", "--tokens", str(tokens), "--confirm", there.name)
    assert result.returncode == 0, result.stderr
    assert {
        name: last for name, last in live.items() if largest_ids(there).get(name, 0) <= last
    } == {}
    states = dict(there.ask("SELECT prefix, revoked_at IS NOT NULL FROM companies_apitoken"))
    assert (states[leaked[:13]], states[kept_token[:13]]) == (True, False)
    healthy = json.loads(manage(there, "doctor", "--only", "restored", "--json").stdout)
    assert healthy["checks"][0]["grade"] == "ok"
    assert largest_ids(Database(str(connection.settings_dict["NAME"]))) == live


def run(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


def moved() -> None:
    """Make the database differ from the recorded one."""
    restoring.note_origin(again=True)
    Deployment.objects.update(origin="1/00000001/1")


def database() -> str:
    return str(connection.settings_dict["NAME"])


def next_ticket(company: Company) -> int:
    return build.ticket(company).pk


def test_a_busy_service_moves_further(company: Company) -> None:
    moved()
    open_tickets(company, 20)
    now = timezone.now()
    Ticket.objects.update(created_at=now - timedelta(days=3))

    def target(since: timedelta) -> int:
        steps = {step.table: step for step in restoring.plan(now - since, margin=1)}
        return steps["tickets_ticket"].target - steps["tickets_ticket"].last

    # Twenty in the hour before the backup: ten times as many in each lost hour.
    Ticket.objects.update(created_at=now - timedelta(days=2, hours=1))
    assert target(timedelta(days=2)) == pytest.approx(20 * 48 * 10, abs=20)
    Ticket.objects.update(created_at=now - timedelta(hours=2))
    assert target(timedelta(hours=1)) == pytest.approx(20 * 1 * 10, abs=20)


def test_an_id_that_somebody_holds_is_passed(company: Company) -> None:
    moved()

    run("after_restore", "--seen", "tickets_ticket=500000", "--confirm", database())

    assert next_ticket(company) > 500_000 + restoring.LEAST
    with pytest.raises(CommandError, match="No table ticket gives ids"):
        run("after_restore", "--seen", "ticket=5", "--confirm", database())


def test_a_run_that_was_interrupted_goes_on_with_its_plan(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved()
    move = restoring.move_sequences

    def broken(steps: list[restoring.SequenceMove], show: Any) -> None:
        move(steps[:3], show)
        raise KeyboardInterrupt

    monkeypatch.setattr(restoring, "move_sequences", broken)
    with pytest.raises(KeyboardInterrupt):
        run("after_restore", "--confirm", database())
    planned = [restoring.SequenceMove(*step) for step in Deployment.objects.get().restore["steps"]]
    assert examined("restored").grade is doctor.Grade.WARN

    monkeypatch.setattr(restoring, "move_sequences", move)
    run("after_restore", "--confirm", database())

    ticket = next(step for step in planned if step.table == "tickets_ticket")
    assert next_ticket(company) == ticket.target + 1
    assert examined("restored").grade is doctor.Grade.OK


def test_numbers_of_events_are_ahead_of_what_receivers_have(company: Company) -> None:
    moved()

    report = run("after_restore", "--confirm", database())

    assert "- end again the links and sessions of the company's page" in report
    with connection.cursor() as cursor:
        cursor.execute("SELECT last_value FROM deliveries_event_id_seq")
        (number,) = cursor.fetchone()
    assert number >= restoring.LEAST_OF_PROGRAMS
    # The lock of publishing has 48 bits for the number.
    assert number < 2**40


def test_no_sequence_moves_if_nothing_was_lost(company: Company) -> None:
    moved()
    before = next_ticket(company)

    assert examined("restored").grade is doctor.Grade.WARN
    run("after_restore", "--nothing-lost", "--confirm", database())

    assert examined("restored").grade is doctor.Grade.OK
    assert next_ticket(company) == before + 1


def test_companies_are_erased_again_and_their_neighbours_are_not(
    company: Company, birch: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("companies.erasing.GRACE", timedelta(0))
    moved()

    run("after_restore", "--erase", str(company.pk), "--confirm", database())

    company.refresh_from_db()
    birch.refresh_from_db()
    assert (company.name, company.active) == (f"erased company {company.pk}", False)
    assert (birch.name, birch.active) == ("Birch", True)
    assert AuditEntry.objects.filter(act="after_restore").exists()


@pytest.mark.parametrize(
    ("option", "content"), [("--tokens", "[1]\n"), ("--erased", "{}\n"), ("--tokens", None)]
)
def test_malformed_list_stops_before_any_change(
    company: Company, tmp_path: Path, option: str, content: str | None
) -> None:
    moved()
    file = tmp_path / "list"
    if content is not None:
        file.write_text(content)

    with pytest.raises(CommandError):
        run("after_restore", option, str(file), "--confirm", database())

    assert Deployment.objects.get().restore is None
    assert not ApiToken.objects.exclude(revoked_at=None).exists()


def test_the_plan_says_what_is_left_to_do(api: APIClient, company: Company) -> None:
    moved()

    output = run("after_restore", "--dry-run", "--lost-since", "2026-01-02T08:00Z")

    assert "feed again what the platform sent since 2026-01-02T07:55:00Z" in output
    assert "410 cursor_expired" in output
    assert "X-Webhook-Id" in output
    assert "1 API tokens are live" in output
