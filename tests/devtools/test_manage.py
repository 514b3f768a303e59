import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.dev.bootstrap import ROOT
from tools.dev.environment import NEVER_EMPTY
from tools.dev.owner import own
from tools.dev.trouble import UsageError


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("data")
    yield folder
    elsewhere = folder / "servers-are-in"
    if elsewhere.exists():
        subprocess.run(["rm", "-rf", elsewhere.read_text().strip()], check=True)


def start(data: Path, *arguments: str, **variables: str) -> subprocess.Popen[str]:
    nothing_given = dict.fromkeys([*NEVER_EMPTY, "WEBHOOK_ALLOWED_NETWORKS", "WEBHOOK_ALLOW_HTTP"])
    environment = {k: v for k, v in os.environ.items() if k not in nothing_given}
    return subprocess.Popen(
        [ROOT / "dev", "manage", *arguments],
        env=environment | {"DATA_DIR": str(data)} | variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_prints_the_commands_own_output_alone_also_on_a_new_database(data: Path) -> None:
    command = start(data, "create_company", "Acme")
    out, err = command.communicate(timeout=300)

    assert command.returncode == 0, err
    assert json.loads(out) == {"company_id": 1, "name": "Acme"}
    assert "dev: migrating the new database\n" in err


@pytest.mark.slow
def test_hands_on_what_the_command_reads_says_and_returns(data: Path) -> None:
    command = start(data, "shell", "-v", "0")
    program = "import sys; from django.conf import settings as s; "
    program += "print(s.WEBHOOK_ALLOW_HTTP, *s.WEBHOOK_ALLOWED_NETWORKS); sys.exit(7)"
    out, _ = command.communicate(program, timeout=300)

    assert out == "True 127.0.0.0/8 ::1/128\n"
    assert command.returncode == 7


@pytest.mark.slow
def test_commands_at_the_same_time_share_servers_and_the_last_one_out_stops_them(
    data: Path,
) -> None:
    slow = "import time; from companies.models import Company; time.sleep(1.5); "
    slow += "print(sorted(Company.objects.values_list('name', flat=True)))"
    first = start(data, "shell", "-v", "0", "-c", slow)
    rest = [start(data, "create_company", f"Birch {n}") for n in range(2)]
    outs = [command.communicate(timeout=300) for command in (first, *rest)]

    assert [command.returncode for command in (first, *rest)] == [0, 0, 0], outs
    assert json.loads(outs[1][0])["name"] == "Birch 0"
    assert json.loads(outs[2][0])["name"] == "Birch 1"
    everything = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    assert str(data) not in everything.stdout
    assert not (data / "owner.json").exists()


def test_a_second_run_is_told_about_the_first(data: Path) -> None:
    lock = own(data)

    with pytest.raises(UsageError, match=r"^already running: another \./dev uses"):
        own_impatiently(data)

    os.close(lock)


def own_impatiently(data: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tools.dev.owner.PATIENCE_SECONDS", 0.2)
        own(data)
