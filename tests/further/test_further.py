"""A further status, stated field, job, count or gauge is a row, a function or a line.

Everything else follows, as the checks show: statuses stand in `tickets/statuses.py`, fields in
`tickets/stated_fields.py`. The checks run in a process of their own, whose tables have the rows of
rows.py.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tickets.statuses import Status

ROOT = Path(__file__).resolve().parents[2]
CHECKS = [
    "tests/further/status_checks.py",
    "tests/further/field_checks.py",
    "tests/further/job_checks.py",
]
SETTINGS = "tests.further.settings"
TIMEOUT_SECONDS = 300
WHAT_TO_DO = f"""
Tables with the rows of tests/further/rows.py fail these checks: code or a check asks for certain
statuses, fields, jobs or metrics and not for what their rows say. Ask for a set of
tickets/statuses.py, such as WAITING_FOR_COMPANY, or go through STATED_FIELDS, all_jobs(),
catalogue.ALL or read_gauges() instead. To run some of them by themselves:
./dev test {" ".join(CHECKS)} --ds={SETTINGS} -k NAME
"""


@pytest.mark.slow
def test_everything_follows_from_a_row() -> None:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")
    }
    # Databases of the broker are divided among workers (tests/settings.py).
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
    result = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "--tb=short",
            "-p",
            "no:cacheprovider",
            f"--ds={SETTINGS}",
            *CHECKS,
        ],
        cwd=ROOT,
        env={**environment, "PYTEST_XDIST_WORKER": worker},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )

    if result.returncode:
        pytest.fail(result.stdout + result.stderr + WHAT_TO_DO, pytrace=False)


def test_the_service_itself_has_no_such_status() -> None:
    reused = {9001, 9002} & set(Status)
    assert not reused, f"{reused} is that of a sample in tests/further/rows.py: take another id"
