"""Each block of the runbooks runs on the installation that the documents describe."""

import gzip
import re
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class
from django.utils import timezone

from companies import services
from companies.models import Company, Erasure
from deliveries.http.answers import Failure
from deliveries.models import Replay
from tests import builders as build
from tools.faults.incidents.following import runbooks
from tools.faults.probing import answers
from tools.faults.scenarios import until
from tools.faults.service import ROOT, Service

MANUAL = ROOT / "docs" / "operating.md"
RUNBOOKS = runbooks()
BLOCK = re.compile(r"^```(?:sh|sql)\n(.*?)^```", re.MULTILINE | re.DOTALL)
# Searches whose result may be empty on a quiet service.
MAY_BE_EMPTY = ("""grep 'code="5'""", "grep -i mail", "grep -e 'set aside'", "grep -i -e 'out of")
JOURNALCTL = """#!/bin/sh
case "$*" in
    *parceldesk-web*) cat {logs}/web.log ;;
    *parceldesk-worker*) cat {logs}/worker.log ;;
esac
"""
PARCELDESK = """#!/bin/sh
cd {root} && exec {python} manage.py "$@"
"""
TRAP = "set -o pipefail\ntrap 'echo \"FAILED $?: $BASH_COMMAND\" >&2' ERR\n"


@pytest.mark.parametrize("name", RUNBOOKS)
def test_commands_have_the_options_that_a_runbook_gives_them(name: str) -> None:
    text = "\n".join(BLOCK.findall(RUNBOOKS[name]))

    assert "DATABASE_URL" not in text, "is in no shell; parceldesk dbshell -- -c '...' knows it"
    assert "manage.py" not in text, "a host has the program parceldesk"
    assert not re.search(r"127\.0\.0\.1:(?!8001)", text), "the web unit listens on 8001"
    for command, rest in re.findall(r"^parceldesk ([a-z_]+) ?(.*)$", text, re.MULTILINE):
        loaded = load_command_class(get_commands()[command], command)
        parser = loaded.create_parser("manage.py", command)
        options = {option for action in parser._actions for option in action.option_strings}
        assert set(re.findall(r"(?<= )--[a-z][a-z-]*", f" {rest}")) <= options, (command, rest)


def test_the_errors_that_a_runbook_explains_are_those_that_are_shown() -> None:
    cells = re.findall(r"^\| (`.+?) \|", RUNBOOKS["attempts-fail"], re.MULTILINE)

    words = {word for cell in cells for word in re.findall(r"`(\w+)`", cell)}

    assert words
    assert words <= {failure.value for failure in Failure}


def write_program(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.write_text(text)
    path.chmod(0o755)


def world(service: Service, company: Company, folder: Path) -> dict[str, str]:
    """Create everything that the runbooks refer to; returns placeholders with their values."""
    token = services.issue_token(company.pk)
    platform = services.issue_platform_token()
    webhook = build.webhook(company)
    # Requests under way when the erasure began have ended.
    Erasure.objects.create(company_id=company.pk, begun_at=timezone.now() - timedelta(minutes=3))
    service.manage("drain")
    base = f"http://127.0.0.1:{service.environment['PORT']}"
    for path, opener in [("/webhooks", token), ("/platform/feed", platform)]:
        subprocess.run(
            ["curl", "-sS", "-H", f"Authorization: Bearer {opener}", f"{base}{path}"], check=True
        )
    (folder / "lines.jsonl.gz").write_bytes(gzip.compress(b'{"kind": "tracking"}\n'))
    service.environment |= {"PLATFORM_TOKEN": platform, "BASE": base}
    (folder / "releases").mkdir()
    return {
        "http://127.0.0.1:8001": base,
        "/opt/parceldesk/": f"{folder}/",
        "/srv/exports/": f"{folder}/",
        "live_3fK9aQ": token[:13],
        "live_3fK9aQ12": token[:13],
        "--confirm Acme": f"--confirm {company.name}",
        **{
            f"{before}{number}": f"{before}{company.pk}"
            for before in ("--company ", "issue_token ", "erase_company ", "export_company ")
            for number in (1,)
        },
        "'company 1,": f"'company {company.pk},",
        **{f"--webhook {number}": f"--webhook {webhook.pk}" for number in (1, 7, 12)},
    }


def prepare(service: Service, name: str) -> dict[str, str]:
    """Cause the trouble that a runbook mends; earlier ones have mended theirs."""
    if name == "host-held":
        service.manage("hold_host", "hooks.example.com", "--reason", "outage")
    if name == "replay-stands-still":
        service.manage("drain")
        replay = Replay.objects.create(by="ada", until=timezone.now(), state=3, rate=1, total=1)
        return {"--stop 3": f"--stop {replay.pk}"}
    return {}


def literally(text: str, ours: dict[str, str]) -> str:
    for theirs, here in ours.items():
        text = re.sub(rf"{re.escape(theirs)}(?!\d)", here, text)
    return text


def is_expected(failure: str, output: str) -> bool:
    """Doctor exits with 1 if a part of this small service is away; a grep may find nothing."""
    if " 1: parceldesk doctor" in failure:
        return "CommandError" not in output
    return any(pattern in failure for pattern in MAY_BE_EMPTY)


@pytest.mark.slow
def test_every_block_runs_on_a_live_service(
    service: Service, acme: Company, tmp_path: Path
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    write_program(programs, "journalctl", JOURNALCTL.format(logs=tmp_path))
    for program in ("systemctl", "timedatectl"):
        write_program(programs, program, "#!/bin/sh\n")
    write_program(programs, "parceldesk", PARCELDESK.format(root=ROOT, python=sys.executable))
    service.environment |= {
        "PATH": f"{programs}:{service.environment['PATH']}",
        "LOG_LEVEL": "INFO",
    }
    service.start("web")
    service.start("worker")
    until(lambda: answers(service, "/healthz"))
    ours = world(service, acme, tmp_path)
    wrong = []
    # The erasure comes last: it revokes the tokens that the others use.
    names = sorted(RUNBOOKS, key=lambda name: name == "erase-a-company")
    texts = {"operating": MANUAL.read_text()} | {name: RUNBOOKS[name] for name in names}
    for name, whole in texts.items():
        ours |= prepare(service, name)
        for block in BLOCK.findall(whole):
            text = literally(block, ours)
            ran = subprocess.run(
                ["bash", "-c", TRAP + text],
                cwd=tmp_path,
                env=service.environment,
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
            )
            output = ran.stdout + ran.stderr
            failures = re.findall(r"^FAILED \d+: .*$", ran.stderr, re.MULTILINE)
            wrong += [
                f"{name}: {failure}\n{output[-600:]}"
                for failure in failures
                if not is_expected(failure, output)
            ]
            wrong += [f"{name}: {output[-600:]}"] * ("Traceback" in ran.stderr)
    assert wrong == []
