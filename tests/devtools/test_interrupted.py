"""An interrupted ./dev test leaves no server behind."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.devtools.test_supervisor import WAIT_SECONDS, is_running, wait_until
from tools.dev.bootstrap import ROOT

# A test with a server in a session of its own, as the walks start them.
TEST = """
import subprocess, sys, time
from pathlib import Path

def test_starts_a_server():
    sleep = "import time; time.sleep(600)"
    server = subprocess.Popen([sys.executable, "-c", sleep], start_new_session=True)
    folder = Path(__file__).parent
    (folder / "new").write_text(str(server.pid))
    (folder / "new").rename(folder / "id")
    time.sleep(600)
"""

# Without our settings, which start PostgreSQL and Valkey.
ALONE = ("-c", os.devnull, "--rootdir", os.curdir)


@pytest.mark.slow
@pytest.mark.parametrize(("processes", "number"), [("0", signal.SIGINT), ("1", signal.SIGTERM)])
def test_servers_end_with_an_interrupted_run(
    tmp_path: Path, processes: str, number: signal.Signals
) -> None:
    (tmp_path / "test_server.py").write_text(TEST)
    run = subprocess.Popen(
        [sys.executable, ROOT / "dev", "test", "-n", processes, *ALONE, tmp_path],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    wait_until((tmp_path / "id").exists)
    server = int((tmp_path / "id").read_text())
    # Ctrl-C reaches every process of the terminal.
    (os.killpg if number is signal.SIGINT else os.kill)(run.pid, number)

    try:
        assert run.wait(WAIT_SECONDS) != 0
        assert not is_running(server)
    finally:
        with suppress(ProcessLookupError):
            os.kill(server, signal.SIGKILL)
