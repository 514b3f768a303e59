"""Rules for every command of ours: it explains itself, talks to programs, and is audited."""

import json
import shlex
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command, get_commands, load_command_class
from django.core.management.base import BaseCommand

from companies.commands import OperatorCommand
from companies.models import AuditEntry, Company
from tests.config.test_settings import variables
from tests.test_architecture import ROOT
from tests.test_docs import OURS

# Django's own, with a longer patience.
FOREIGN = {"migrate"}
COMMANDS = sorted(set(OURS) - FOREIGN)
READING = {
    "audit",
    "automations",
    "doctor",
    "export_agents",
    "links",
    "list_companies",
    "list_platform_tokens",
    "list_tokens",
    "queue",
}


def loaded(name: str) -> BaseCommand:
    return load_command_class(get_commands()[name], name)


def of_operators() -> list[str]:
    return [name for name in COMMANDS if isinstance(loaded(name), OperatorCommand)]


def run(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


@pytest.mark.parametrize("name", of_operators())
def test_its_example_is_one(name: str) -> None:
    command: Any = loaded(name)
    parser = command.create_parser("manage.py", name)

    assert f"\nexample:\n  {command.example.splitlines()[0]}" in parser.format_help()
    for line in command.example.splitlines():
        words = shlex.split(line)
        while "=" in words[0]:
            words.pop(0)
        assert words[:3] == ["python", "manage.py", name]
        parser.parse_args(words[3:])


@pytest.mark.parametrize("name", of_operators())
def test_it_talks_to_programs_and_exits_with_2_on_what_it_does_not_know(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = loaded(name)
    command._called_from_command_line = True
    parser = command.create_parser("manage.py", name)

    assert "--json" in parser.format_help()
    with pytest.raises(SystemExit) as ended:
        parser.parse_args(["--no-such-option"])
    assert ended.value.code == 2
    assert "usage:" in capsys.readouterr().err


def test_only_those_that_change_nothing_leave_no_entry() -> None:
    reading = {name for name in of_operators() if not getattr(loaded(name), "changes", True)}

    assert reading == READING & set(of_operators())


def test_audit_entries_identify_no_person(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_PASSWORD", "long-Enough-9812")
    secret = ["Jane Roe", "jane@roe.example", "long-Enough-9812"]
    run("create_company", secret[0], "--contact-email", secret[1])
    company = Company.objects.get()
    token = run("issue_token", str(company.pk)).strip()
    platform = json.loads(run("issue_platform_token", "--json"))["token"]
    run("revoke_platform_token", platform)
    run("create_agent", "ada", "--email", secret[1], "--lead")
    run("create_user", "olga", "--role", "operator", "--email", secret[1])
    run("update_groups", "--apply")
    run("revoke_token", token)
    with pytest.raises(CommandError, match="is not an email address"):
        run("create_company", "Roe", "--contact-email", "jane at roe")

    entries = list(AuditEntry.objects.order_by("pk").values())
    assert [entry["act"] for entry in entries] == [
        "create_company",
        "issue_token",
        "issue_platform_token",
        "revoke_platform_token",
        "create_agent",
        "create_user",
        "update_groups",
        "revoke_token",
        "create_company",
    ]
    assert entries[0]["outcome"] == f"created company {company.pk}"
    assert entries[-1]["outcome"] == "failed: '…' is not an email address."
    for text in [*secret, token, platform, "jane at roe"]:
        assert text not in str(entries)


def test_read_only_commands_are_not_audited(db: None) -> None:
    run("update_groups")
    run("reencrypt", "--dry-run")
    run("automations", "--json")
    run("list_platform_tokens")

    assert not AuditEntry.objects.exists()


def test_a_run_of_ingest_is_one_entry_with_its_counts(company: Company, tmp_path: Path) -> None:
    file = tmp_path / "feed.jsonl"
    file.write_text("{}\n")

    with pytest.raises(CommandError, match="1 of 1 lines were bad"):
        run("ingest", str(file))

    entry = AuditEntry.objects.get()
    assert json.loads(entry.outcome or "")["bad"] == 1


@pytest.mark.parametrize("words", [["createsuperuser"], ["changepassword", "ada"]])
def test_commands_of_django_say_too_that_the_database_is_away(words: list[str]) -> None:
    ended = subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env=variables(DATABASE_URL="postgres://nobody@127.0.0.1:1/none"),
        capture_output=True,
        text=True,
    )

    assert ended.returncode == 1
    assert ended.stderr.startswith("CommandError: The database failed: ")
    assert "Traceback" not in ended.stderr
