import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.devtools.test_supervisor import WAIT_SECONDS, is_running, wait_until
from tools.dev import guard
from tools.dev.bootstrap import ROOT

# A small launcher under the guard, with a child whose own child ignores all signals. The three
# write down their ids.
LAUNCHER = """
import subprocess, sys, os, signal, time
from pathlib import Path
from tools.dev import guard
from tools.dev.processes import tether

CHILD = '''
import os, subprocess, sys, time
deaf = "import signal, time; [signal.signal(n, signal.SIG_IGN) for n in (1, 2, 15)]; time.sleep(60)"
grandchild = subprocess.Popen([sys.executable, "-c", deaf], start_new_session=True)
time.sleep(0.2)
with open("ids.new", "a") as ids:
    ids.write(f"{os.getpid()} {grandchild.pid}")
os.rename("ids.new", "ids")
time.sleep(60)
'''

def work():
    Path("ids.new").write_text(f"{os.getpid()} ")
    child = subprocess.Popen([sys.executable, "-c", CHILD], preexec_fn=tether(signal.SIGTERM))
    try:
        time.sleep(60)
    except guard.Stop:
        child.terminate()
        child.wait()
        Path("stopped").touch()
        return 0

guard.FAREWELL_SECONDS = 0.5
sys.exit(guard.guarded(work))
"""


@pytest.fixture
def launcher(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    started = subprocess.Popen(
        [sys.executable, "-c", LAUNCHER],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    wait_until(lambda: (tmp_path / "ids").exists())
    yield started
    started.kill()
    started.wait()


def ids(folder: Path) -> list[int]:
    return [int(pid) for pid in (folder / "ids").read_text().split()]


def test_is_over_when_nothing_is_left_and_no_sooner(
    launcher: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    launcher.terminate()

    assert launcher.wait(WAIT_SECONDS) == 0
    assert (tmp_path / "stopped").exists()
    assert not any(map(is_running, ids(tmp_path)))


def test_ctrl_c_reaches_both_halves_and_is_one_stop(
    launcher: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    os.killpg(launcher.pid, signal.SIGINT)

    assert launcher.wait(WAIT_SECONDS) == 0
    assert not any(map(is_running, ids(tmp_path)))


def test_a_worker_that_is_gone_already_need_not_be_told() -> None:
    """Ignore it: Ctrl-C reaches both halves, and the worker may end first."""
    ended = subprocess.Popen(["true"])
    ended.wait()

    guard.tell(ended.pid)


def test_killed_for_good_it_still_stops_in_order(
    launcher: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    launcher.kill()
    launcher.wait(WAIT_SECONDS)

    worker, child, grandchild = ids(tmp_path)
    wait_until(lambda: not is_running(worker) and not is_running(child))
    assert (tmp_path / "stopped").exists()
    # Nobody else removes a process that ignores every signal; the launcher's own stop would.
    os.kill(grandchild, signal.SIGKILL)


def test_with_its_other_half_killed_it_removes_what_that_has_left(
    launcher: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    worker, child, grandchild = ids(tmp_path)
    os.kill(worker, signal.SIGKILL)

    assert launcher.wait(WAIT_SECONDS) == 1
    assert not (tmp_path / "stopped").exists()
    assert not is_running(child)
    assert not is_running(grandchild)


# Stop it while an object is finalized, where Python lets no exception through.
FINALIZING = """
import os, signal, sys, time
from tools.dev import guard

class Finalized:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.2)

def work():
    Finalized()
    try:
        time.sleep(60)
    except guard.Stop:
        print("stopped")
    return 0

sys.exit(guard.guarded(work))
"""


def test_guard_stops_inside_a_finalizer() -> None:
    result = subprocess.run(
        [sys.executable, "-c", FINALIZING],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
    )

    assert (result.returncode, result.stdout, result.stderr) == (0, "stopped\n", "")
