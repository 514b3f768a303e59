import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tools.dev.output import Output
from tools.dev.supervisor import Program, Supervisor

WAIT_SECONDS = 180


@pytest.fixture
def supervisor(capfd: pytest.CaptureFixture[str]) -> Iterator[Supervisor]:
    supervisor = Supervisor(Output())
    yield supervisor
    supervisor.stop()


def program(name: str, command: str, folder: Path, **how: bool) -> Program:
    return Program(name, command, dict(os.environ), str(folder), **how)


def turn_until(supervisor: Supervisor, condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        supervisor.turn()


def wait_until(condition: Callable[[], bool], seconds: float = WAIT_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_written(file: Path) -> bool:
    """Return whether a program's `echo` is in it: the shell creates the file first, and empty."""
    return file.exists() and file.read_text().endswith("\n")


def is_running(pid: int) -> bool:
    """Return whether it is alive and not a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def test_output_is_prefixed_by_program(
    supervisor: Supervisor, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code = supervisor.run(program("web", "echo one; printf two >&2; exit 3", tmp_path, once=True))

    assert code == 3
    assert capfd.readouterr().out == "web       | one\nweb       | two\n"


def test_a_program_of_ours_speaks_for_itself(
    supervisor: Supervisor, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    supervisor.run(program("demo", "echo Ready", tmp_path, once=True, prefixed=False))

    assert capfd.readouterr().out == "Ready\n"


def test_starts_a_dead_program_again_and_says_why(
    supervisor: Supervisor, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    command = "sh -c 'echo life >> lives; echo out of ideas; exit 4'"
    supervisor.start(program("worker", command, tmp_path))

    lives = tmp_path / "lives"
    turn_until(supervisor, lambda: lives.exists() and len(lives.read_text().splitlines()) > 1)

    output = capfd.readouterr().out
    assert "dev: worker ended with code 4; starting it again in 0.5 s." in output
    assert "Its last words: out of ideas" in output


def test_waits_longer_after_each_failure_but_never_gives_up(
    supervisor: Supervisor, tmp_path: Path
) -> None:
    broken = program("worker", "true", tmp_path)
    for wait in (0.5, 1, 2, 4, 8, 10, 10, 10):
        before = time.monotonic()
        supervisor.plan_restart(broken, "worker ended")
        after = time.monotonic()
        assert before <= supervisor.waiting["worker"][1] - wait <= after


def test_a_killed_program_takes_its_children_along_before_it_is_started_again(
    supervisor: Supervisor, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    command = "sh -c 'sleep 60 & echo $! > child; wait'"
    process = supervisor.start(program("worker", command, tmp_path))
    turn_until(supervisor, lambda: is_written(tmp_path / "child"))
    child = int((tmp_path / "child").read_text())

    process.kill()
    turn_until(supervisor, lambda: not is_running(child))

    assert "worker was killed by signal 9 (SIGKILL)" in capfd.readouterr().out


def test_stops_programs_that_ignore_signals_and_their_children(
    supervisor: Supervisor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.dev.supervisor.PROGRAMS_STOP_WITHIN_SECONDS", 1)
    polite = "sh -c 'trap \"echo bye > bye; exit 0\" TERM; echo > polite; sleep 60 & wait'"
    deaf = "sh -c 'trap \"\" TERM; sleep 60 & echo $! > deaf; while :; do wait; done'"
    supervisor.start(program("polite", polite, tmp_path))
    supervisor.start(program("deaf", deaf, tmp_path))
    wanted = [tmp_path / "polite", tmp_path / "deaf"]
    turn_until(supervisor, lambda: all(is_written(file) for file in wanted))
    child = int((tmp_path / "deaf").read_text())
    processes = [process for _, process, _ in supervisor.running.values()]

    start = time.monotonic()
    supervisor.stop()

    assert time.monotonic() - start < 30, "it waited for the deaf"
    assert (tmp_path / "bye").exists()
    assert [process.returncode for process in processes] == [0, -signal.SIGKILL]
    wait_until(lambda: not is_running(child))


def test_a_reader_who_has_gone_to_sleep_does_not_stop_the_service(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tools.dev.output.PATIENCE_SECONDS", 0.1)
    reading, writing = os.pipe()
    output = Output()
    output.descriptor = writing
    for _ in range(200):
        output.write("x" * 1000)

    assert output.dropped > 100
    while len(os.read(reading, 65536)) == 65536:
        pass
    output.write("awake again")

    text = os.read(reading, 65536).decode()
    assert "lines were dropped here, as nobody was reading\nawake again\n" in text
    os.close(reading)
    os.close(writing)
