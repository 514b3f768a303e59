"""Our own database backend for PostgreSQL."""

import pytest
from django.db import connection

from core.data import statements


@pytest.mark.parametrize(("pooled", "prepared"), [(False, 1), (True, 0)])
def test_prepares_statements_unless_a_pooler_stands_between(
    rows_to_keep: None, pooled: bool, prepared: int
) -> None:
    connection.close()
    connection.settings_dict["POOLED"] = pooled
    try:
        for number in range(3):
            with statements.cursor() as cursor:
                cursor.execute("SELECT %s::integer + 40002", [number])
                assert cursor.fetchone() == (number + 40002,)
    finally:
        del connection.settings_dict["POOLED"]
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%40002%'")
        statement_count = cursor.fetchone()[0]
    connection.close()

    assert statement_count == prepared


def test_leaves_out_comments_and_line_breaks_and_keeps_texts() -> None:
    statement = """
    SELECT '  -- it''s  ', x  -- a comment
      ,  y
    """

    assert statements.compact(statement) == b"SELECT '  -- it''s  ', x , y"
