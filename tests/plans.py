"""Whether an index fits a statement, whatever PostgreSQL knows or guesses of a test's small tables.

How large a table was before, and what an earlier ANALYZE found, outlives a rollback: which of two
indexes is cheaper differs from run to run. That one fits does not.
"""

from django.db import connection

HIDE = """
UPDATE pg_index SET indisvalid = false
WHERE NOT indexrelid = ANY(%(kept)s::regclass[]::oid[]) AND indrelid IN (
  SELECT indrelid FROM pg_index WHERE indexrelid = ANY(%(kept)s::regclass[]::oid[]))
"""


def offer_only(*indexes: str) -> None:
    """Until the test's transaction is rolled back, their tables have no other index to be read by,
    and are read as a whole only where none of these fits."""
    with connection.cursor() as cursor:
        cursor.execute(HIDE, {"kept": list(indexes)})
        cursor.execute("SET LOCAL enable_seqscan = off")
