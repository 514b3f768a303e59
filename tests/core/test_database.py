"""Session settings of every connection, independent of the server's defaults."""

import time

import environ
import pytest
from django.db import OperationalError, connection, connections

from core.data import database
from core.data.postgresql import base
from core.data.postgresql.base import DatabaseWrapper
from tests.waiting import wait_until


def setting(name: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT setting FROM pg_settings WHERE name = %s", [name])
        return cursor.fetchone()[0]


def sleeping() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE query LIKE '%%pg_sleep%%' AND pid <> pg_backend_pid() AND state = 'active'"
        )
        return bool(cursor.fetchone()[0])


def test_no_statement_is_compiled(transactional_db: None) -> None:
    """Disable JIT: with it PostgreSQL 15 sends a hundredth of the deliveries."""
    connection.close()

    assert setting("jit") == "off"


def test_a_statement_and_an_idle_transaction_end(transactional_db: None) -> None:
    connection.close()

    assert setting("statement_timeout") == "30000"
    assert setting("idle_in_transaction_session_timeout") == "60000"


def test_a_connection_may_have_a_shorter_limit(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection.close()
    monkeypatch.setitem(connection.settings_dict, "IDLE_IN_TRANSACTION_SECONDS", 4)

    assert setting("idle_in_transaction_session_timeout") == "4000"
    connection.close()


def test_settings_outlast_a_transaction_that_is_rolled_back(transactional_db: None) -> None:
    connection.close()
    connection.set_autocommit(False)
    connection.rollback()
    connection.set_autocommit(True)

    assert setting("statement_timeout") == "30000"


def test_nothing_is_asked_for_that_pgbouncer_refuses(transactional_db: None) -> None:
    """Avoid `options`: PgBouncer accepts a few startup parameters, and it is not one of them."""
    assert "options" not in connection.get_connection_params()


def test_a_server_that_does_not_answer_is_not_waited_for(transactional_db: None) -> None:
    connection.close()
    patient = connections.settings["default"].get("PATIENCE_SECONDS")
    database.wait_at_most(0.2)
    try:
        with (
            pytest.raises(OperationalError, match=r"has not answered for 0\.2 seconds"),
            connection.cursor() as cursor,
        ):
            cursor.execute("SELECT pg_sleep(1)")
        connection.close()
        assert setting("jit") == "off"
        # The server notices once it has finished the statement.
        wait_until(lambda: not sleeping(), "the server to learn that nobody waits")
    finally:
        connection.close()
        connections.settings["default"]["PATIENCE_SECONDS"] = patient


def test_a_server_that_is_cut_off_is_noticed() -> None:
    parameters = connection.get_connection_params()

    noticed = parameters["keepalives_idle"] + (
        parameters["keepalives_interval"] * parameters["keepalives_count"]
    )
    assert noticed <= 15
    assert parameters["tcp_user_timeout"] <= 15_000


def test_a_server_that_takes_no_more_writes_is_as_good_as_away(transactional_db: None) -> None:
    """Treat a server that was demoted during the connection as unavailable."""
    connection.close()
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
        with pytest.raises(OperationalError, match="takes no writes"):
            cursor.execute("CREATE TABLE written ()")

    assert connection.connection.closed
    connection.close()
    assert setting("default_transaction_read_only") == "off"


def test_writable_server_of_several_is_used(transactional_db: None) -> None:
    several = f"postgres://postgres@//nowhere,{connection.settings_dict['HOST']}/" + str(
        connection.settings_dict["NAME"]
    )
    wrapper = DatabaseWrapper(
        {**connection.settings_dict, **database.connection_settings(url(several))}
    )

    with wrapper.cursor() as cursor:
        cursor.execute("SHOW transaction_read_only")
        assert cursor.fetchone() == ("off",)
    wrapper.close()


def url(text: str) -> dict[str, object]:
    return environ.Env.db_url_config(text)


@pytest.mark.parametrize(
    ("text", "hosts", "ports", "attributes"),
    [
        ("postgres://u@a:5432,b:5433/d", "a,b", "5432,5433", "read-write"),
        ("postgres://u@a,b/d?target_session_attrs=any", "a,b", "", "any"),
        ("postgres://u@//run/a,/run/b/d", "/run/a,/run/b", "", "read-write"),
        ("postgres://u@a:5432/d", "a", 5432, None),
    ],
)
def test_a_url_may_name_several_servers(
    text: str, hosts: str, ports: str | int, attributes: str | None
) -> None:
    settings = database.connection_settings(url(text))

    assert (settings["HOST"], settings["PORT"]) == (hosts, ports)
    assert settings["OPTIONS"].get("target_session_attrs") == attributes


def test_options_of_the_url_override_ours() -> None:
    settings = database.connection_settings({"HOST": "a,b", "OPTIONS": {"connect_timeout": "2"}})

    assert settings["OPTIONS"]["connect_timeout"] == "2"
    assert settings["OPTIONS"]["keepalives_idle"] == 5


def test_a_connection_that_was_just_used_is_not_asked_whether_it_lives(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    raw, pings = connection.connection, []
    opens = raw.cursor
    monkeypatch.setattr(raw, "cursor", lambda: pings.append(1) or opens())

    assert connection.is_usable()
    assert pings == []
    raw.used_at -= base.TRUSTED_SECONDS
    assert connection.is_usable()
    assert pings == [1]


def test_connection_closed_by_the_server_is_noticed_at_once(transactional_db: None) -> None:
    other = connections.create_connection("default")
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        backend = cursor.fetchone()[0]
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [backend])

    other.connection.used_at = time.monotonic()
    assert not other.is_usable()
    other.close()
