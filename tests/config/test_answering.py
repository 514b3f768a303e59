"""A request waits for a silent database no longer than its total time allows."""

import socket
import time
from collections.abc import Iterator

import pytest
from django.db import OperationalError, connection, connections

from core.data.database import connection_settings
from core.data.postgresql.answering import SILENCE, answer_until
from core.data.postgresql.base import DatabaseWrapper
from tests.core.test_database import sleeping

pytestmark = pytest.mark.django_db(transaction=True)
A_WHILE = 1000.0


@pytest.fixture(autouse=True)
def silent() -> Iterator[None]:
    before = connections.settings["default"].get("PATIENCE_SECONDS")
    connections.settings["default"]["PATIENCE_SECONDS"] = A_WHILE
    connection.close()
    connection.ensure_connection()
    SILENCE.began = True
    yield
    SILENCE.began = False
    connection.close()
    # The server notices once it has finished the statement.
    while sleeping():
        time.sleep(0.05)
    connection.close()
    connections.settings["default"]["PATIENCE_SECONDS"] = before


def ask(statement: str = "SELECT 1") -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def test_expired_request_sends_no_query() -> None:
    with answer_until(time.monotonic() - 1), pytest.raises(OperationalError, match="not answer"):
        ask()
    assert connection.connection.closed
    assert SILENCE.began


def test_a_request_waits_for_the_rest_of_its_time() -> None:
    with (
        answer_until(time.monotonic() + 0.3),
        pytest.raises(OperationalError, match="has not"),
    ):
        ask("SELECT pg_sleep(1)")


def test_work_outside_a_request_waits_without_this_limit() -> None:
    ask("SELECT pg_sleep(0.1)")
    assert not SILENCE.began


def test_an_answer_ends_the_silence() -> None:
    with answer_until(time.monotonic() + 20):
        ask()
    with answer_until(time.monotonic() - 1):
        ask()
        with (
            answer_until(time.monotonic() - 1, strict=True),
            pytest.raises(OperationalError, match="not answer"),
        ):
            ask()


def test_a_statement_without_an_answer_begins_the_silence() -> None:
    SILENCE.began = False
    with (
        answer_until(time.monotonic() + 0.3, strict=True),
        pytest.raises(OperationalError, match="has not answered"),
    ):
        ask("SELECT pg_sleep(1)")
    assert SILENCE.began


def test_a_connection_has_the_rest_of_the_time_too() -> None:
    """Bound connecting too: a frozen server accepts connections and says nothing on them."""
    with socket.create_server(("127.0.0.1", 0)) as still:
        host, port = still.getsockname()
        frozen = DatabaseWrapper(
            {**connection.settings_dict, **connection_settings({"HOST": host, "PORT": port})}
        )
        with answer_until(time.monotonic() + 2.5), pytest.raises(OperationalError):
            frozen.ensure_connection()
        assert SILENCE.began
        with (
            answer_until(time.monotonic() + 1.5),
            pytest.raises(OperationalError, match="does not answer"),
        ):
            frozen.ensure_connection()
