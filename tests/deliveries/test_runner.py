"""Database work that runs while the loop goes on, with a slow server."""

import threading
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from django.db import OperationalError, connection

from deliveries.engine.runner import Runner

# Longer than anything here takes; failures would otherwise hang for ever.
SECONDS = 20
END_SLEEPERS = """
SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
WHERE query = 'SELECT pg_sleep(60)' AND datname = current_database()
"""


@pytest.fixture
def runner(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runner]:
    """Yield one with a connection of its own that lets the loop go on."""
    with closing(Runner()) as instance:
        monkeypatch.setitem(connection.settings_dict, "WAITER", instance)
        connection.close()
        yield instance
        connection.close()


def ask(statement: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()[0]


def drive(runner: Runner, future: Any) -> int:
    """Loop until the work is done; returns how often other work was possible meanwhile."""
    rounds, until = 0, time.monotonic() + SECONDS
    while not future.done() and time.monotonic() < until:
        rounds += 1
        time.sleep(0.01)
        runner.resume()
    return rounds


def test_the_loop_goes_on_while_the_server_thinks(runner: Runner) -> None:
    future = runner.start(lambda: ask("SELECT 7 FROM pg_sleep(0.3)"))

    assert not future.done()
    assert drive(runner, future) > 5
    assert future.result() == 7


def test_connecting_is_not_waited_for_either(runner: Runner) -> None:
    """Connect in the background, because name lookups and silent servers block."""
    names = runner.start(
        lambda: runner.run_in_thread(lambda: (time.sleep(0.3), threading.get_ident()))
    )

    assert drive(runner, names) > 5
    assert names.result()[1] != threading.get_ident()


def test_error_in_the_thread_is_raised_in_the_loop(runner: Runner) -> None:
    def fail() -> None:
        raise OSError("no such host")

    with pytest.raises(OSError, match="no such host"):
        runner.run(lambda: runner.run_in_thread(fail))


def test_a_server_that_does_not_answer_is_given_up(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(connection.settings_dict, "PATIENCE_SECONDS", 0.3)
    future = runner.start(lambda: ask("SELECT pg_sleep(60)"))

    drive(runner, future)

    with pytest.raises(OperationalError, match=r"has not answered for 0\.3 seconds"):
        future.result()
    connection.close()
    # The server goes on with the statement.
    assert runner.run(lambda: ask(END_SLEEPERS)) == 1


def test_a_connection_that_breaks_is_made_anew(runner: Runner) -> None:
    pid = runner.run(lambda: ask("SELECT pg_backend_pid()"))

    with pytest.raises(OperationalError):
        runner.run(lambda: ask("SELECT pg_terminate_backend(pg_backend_pid())"))
    connection.close()

    assert runner.run(lambda: ask("SELECT pg_backend_pid()")) != pid


def test_much_is_written_and_read_in_pieces(runner: Runner) -> None:
    """Send more than the kernel's buffers hold, so that the socket waits in both directions."""
    size = 20_000_000

    def send() -> int:
        with connection.cursor() as cursor:
            cursor.execute("SELECT %s::text", ["x" * size])
            return len(cursor.fetchone()[0])

    assert runner.run(send) == size


def test_a_pause_lasts_as_long_as_it_says(runner: Runner) -> None:
    began = time.monotonic()
    future = runner.start(lambda: runner.pause(0.2))

    assert drive(runner, future) > 3
    assert time.monotonic() - began >= 0.2


def test_work_without_waiting_ends_at_once(runner: Runner) -> None:
    future = runner.start(lambda: 3)

    assert future.done()
    assert runner.seconds_left(time.monotonic()) == 0


def test_other_connections_block_as_usual(runner: Runner) -> None:
    assert ask("SELECT 5") == 5
    assert runner.run_in_thread(lambda: 4) == 4
    runner.pause(0)
