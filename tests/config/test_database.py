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
