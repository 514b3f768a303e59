"""The events of a company and type in their order, for those who read them as a stream.

Each partition gets its index while it is written. Those made meanwhile have it from the start.
"""

from typing import Any

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.backends.utils import CursorWrapper

PARENT = """
CREATE INDEX IF NOT EXISTS event_stream ON ONLY deliveries_event (company_id, type_id, id)
"""
LEFT = """
SELECT child.relname FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid
WHERE inhparent = 'deliveries_event'::regclass AND NOT EXISTS (
  SELECT FROM pg_inherits AS own JOIN pg_index ON indexrelid = own.inhrelid
  WHERE own.inhparent = 'event_stream'::regclass AND indrelid = child.oid)
ORDER BY 1
"""


def index_each_partition(apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        cursor.execute(PARENT)
        for partition in partitions_left(cursor):
            index = f"{partition}_stream"
            # What a run that was interrupted has left is not valid.
            cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {index}")
            cursor.execute(
                f"CREATE INDEX CONCURRENTLY {index} ON {partition} (company_id, type_id, id)"
            )
            cursor.execute(f"ALTER INDEX event_stream ATTACH PARTITION {index}")
        cursor.execute("RESET statement_timeout")


def partitions_left(cursor: CursorWrapper) -> list[str]:
    cursor.execute(LEFT)
    return [name for (name,) in cursor.fetchall()]


class Migration(migrations.Migration):
    # Indexes of a live table are made outside of a transaction.
    atomic = False

    dependencies = [("deliveries", "0010_events_of_tickets"), ("webhooks", "0004_streams")]

    operations = [
        migrations.RunPython(index_each_partition, migrations.RunPython.noop, atomic=False),
    ]
