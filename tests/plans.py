"""Checks that an index fits a statement, whatever PostgreSQL's statistics of small tables are.

A table's former size, and the result of an earlier ANALYZE, outlive a rollback: which of two
indexes is cheaper differs from run to run. That one of them fits does not.
"""

from django.db import connection

HIDE = """
UPDATE pg_index SET indisvalid = false
WHERE NOT indexrelid = ANY(%(kept)s::regclass[]::oid[]) AND indrelid IN (
  SELECT indrelid FROM pg_index WHERE indexrelid = ANY(%(kept)s::regclass[]::oid[]))
"""


def offer_only(*indexes: str) -> None:
    """Drop all other indexes of their tables, until the test's transaction is rolled back.

    A sequential scan is used only if none of these indexes fits.
    """
    with connection.cursor() as cursor:
        cursor.execute(HIDE, {"kept": list(indexes)})
        cursor.execute("SET LOCAL enable_seqscan = off")
