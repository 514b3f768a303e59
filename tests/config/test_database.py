"""What every connection is told, whatever the server's defaults are."""

from django.db import connection


def setting(name: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT setting FROM pg_settings WHERE name = %s", [name])
        return cursor.fetchone()[0]


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
