"""Scripts of the benchmarks, called as a user would call them, on servers of their own."""

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.programs import without_set_up
from tools.bench.running import SCENARIOS
from tools.dev.bootstrap import ROOT


def bench(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    script = ROOT / "tools" / "bench" / command[0]
    result = subprocess.run(
        [script, *command[1:]],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    result.stderr = without_set_up(result.stderr)
    return result


@pytest.fixture
def temporary() -> Iterator[Path]:
    """Make a folder that the account of the servers may enter, whoever runs the tests."""
    with tempfile.TemporaryDirectory(prefix="parceldesk-") as folder:
        Path(folder).chmod(0o711)
        yield Path(folder)


@pytest.mark.slow
def test_benchmark_prints_figures_and_leaves_no_files(temporary: Path) -> None:
    live = "live --rate 20 --seconds 1 --warm-up 0 --publishers 1"

    result = bench(*live.split(), TMPDIR=str(temporary))

    assert result.returncode == 0, result.stderr
    figures = json.loads(result.stdout.splitlines()[-1])
    assert figures["published"] == figures["delivered"] == 20
    assert list(temporary.glob("parceldesk-bench-*")) == []


def test_help_starts_nothing() -> None:
    result = bench("drain", "--help")

    assert result.returncode == 0
    assert "--peer-size" in result.stdout
    assert result.stderr == ""


def test_every_script_explains_itself_and_is_in_the_manual() -> None:
    manual = (ROOT / "docs" / "performance.md").read_text()
    folder = ROOT / "tools" / "bench"
    scripts = [path for path in folder.iterdir() if path.is_file() and not path.suffix]

    assert {path.name for path in scripts} == {*SCENARIOS}
    assert [path.name for path in scripts if f"`tools/bench/{path.name}`" not in manual] == []


def test_wal_of_a_day_is_that_of_its_events() -> None:
    measured = (ROOT / "docs" / "performance.md").read_text()
    (of_an_event,) = re.findall(r"^\| all \| [0-9,]+ \| ([0-9,]+) \|", measured, re.MULTILINE)
    growing = (ROOT / "docs" / "operations" / "growing.md").read_text()
    (a_day,) = re.findall(r"^\| WAL a day, GB \| (.+) \|$", growing, re.MULTILINE)

    gigabytes = int(of_an_event.replace(",", "")) * 1e6 / 1e9
    assert a_day == " | ".join(f"{gigabytes * millions:.1f}" for millions in (1, 10, 100))
