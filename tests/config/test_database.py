"""What every connection is told, whatever the server's defaults are."""

import time

import pytest
from django.db import OperationalError, connection, connections

from config import database


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
    """PostgreSQL 15 with JIT sends a hundredth of what it sends without."""
    connection.close()

    assert setting("jit") == "off"


def test_a_statement_and_an_idle_transaction_end(transactional_db: None) -> None:
    connection.close()

    assert setting("statement_timeout") == "30000"
    assert setting("idle_in_transaction_session_timeout") == "60000"


def test_settings_outlast_a_transaction_that_is_rolled_back(transactional_db: None) -> None:
    connection.close()
    connection.set_autocommit(False)
    connection.rollback()
    connection.set_autocommit(True)

    assert setting("statement_timeout") == "30000"


def test_nothing_is_asked_for_that_pgbouncer_refuses(transactional_db: None) -> None:
    """It takes a few startup parameters, and `options` is none of them."""
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
        # The server learns of it when it has done what it was asked.
        while sleeping():
            time.sleep(0.05)
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


def test_what_a_url_says_goes_before_what_we_say() -> None:
    settings = database.connection_settings({"HOST": "a,b", "OPTIONS": {"connect_timeout": "2"}})

    assert settings["OPTIONS"]["connect_timeout"] == "2"
    assert settings["OPTIONS"]["keepalives_idle"] == 5
