"""A further status is one row of `tickets/statuses.py`: everything else follows.

What follows is in checks.py. It runs in a process of its own, whose table has the row.
"""

import os
import subprocess
import sys
from pathlib import Path

from tickets.statuses import Status

ROOT = Path(__file__).resolve().parents[2]
CHECKS = "tests/on_hold/checks.py"
TIMEOUT_SECONDS = 300


def test_everything_follows_from_one_row() -> None:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")
    }
    # Databases of the broker are shared out by worker (tests/settings.py).
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--ds=tests.on_hold.settings",
            CHECKS,
        ],
        cwd=ROOT,
        env={**environment, "PYTEST_XDIST_WORKER": worker},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr


def test_the_service_itself_has_no_such_status() -> None:
    assert 7 not in set(Status)
