"""The events that a request caused, for those who know its id alone.

Each partition gets its index while it is written. Those made meanwhile have it from the start.
"""

from typing import Any

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.backends.utils import CursorWrapper

PARENT = """
CREATE INDEX IF NOT EXISTS event_request ON ONLY deliveries_event (request_id)
  WHERE request_id IS NOT NULL
"""
LEFT = """
SELECT child.relname FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid
WHERE inhparent = 'deliveries_event'::regclass AND NOT EXISTS (
  SELECT FROM pg_inherits AS own JOIN pg_index ON indexrelid = own.inhrelid
  WHERE own.inhparent = 'event_request'::regclass AND indrelid = child.oid)
ORDER BY 1
"""


def index_each_partition(apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        cursor.execute(PARENT)
        for partition in partitions_left(cursor):
            index = f"{partition}_request"
            # What a run that was interrupted has left is not valid.
            cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {index}")
            cursor.execute(
                f"CREATE INDEX CONCURRENTLY {index} ON {partition} (request_id)"
                " WHERE request_id IS NOT NULL"
            )
            cursor.execute(f"ALTER INDEX event_request ATTACH PARTITION {index}")
        cursor.execute("RESET statement_timeout")


def partitions_left(cursor: CursorWrapper) -> list[str]:
    cursor.execute(LEFT)
    return [name for (name,) in cursor.fetchall()]


class Migration(migrations.Migration):
    # Indexes of a live table are made outside of a transaction.
    atomic = False

    dependencies = [("deliveries", "0015_traces")]

    operations = [
        migrations.RunPython(index_each_partition, migrations.RunPython.noop, atomic=False),
    ]
