"""Keeps who decides from now on, fills in the past, and indexes it for lists and reports."""

from django.apps.registry import Apps
from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Q

TRIGGER = """
CREATE OR REPLACE TRIGGER tickets_keep_decider BEFORE UPDATE OF decided_at ON tickets_ticket
FOR EACH ROW WHEN (NEW.decided_at IS DISTINCT FROM OLD.decided_at
  AND NEW.decided_by_id IS NOT DISTINCT FROM OLD.decided_by_id)
EXECUTE FUNCTION tickets_keep_decider();
"""
NO_TRIGGER = "DROP TRIGGER IF EXISTS tickets_keep_decider ON tickets_ticket;"
# Rows that are locked at a time: an agent's move waits for no longer than these take.
BATCH = 500
# In the order of their ids, as everything that locks several tickets.
FILL = """
WITH batch AS (
  SELECT id FROM tickets_ticket WHERE id > %s AND decided_at IS NOT NULL ORDER BY id LIMIT %s
), held AS (
  SELECT ticket.id, decided_at, decided_by_id FROM tickets_ticket AS ticket JOIN batch USING (id)
  ORDER BY ticket.id FOR NO KEY UPDATE OF ticket
), filled AS (
  UPDATE tickets_ticket AS ticket SET decided_by_id = tickets_decider(ticket.id)
  FROM held WHERE ticket.id = held.id AND held.decided_at IS NOT NULL
    AND held.decided_by_id IS NULL AND tickets_decider(ticket.id) IS NOT NULL
)
SELECT max(id) FROM batch
"""


def fill(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Commit each batch by itself. Interrupted, it starts anew and does the rest."""
    last: int | None = 0
    with schema_editor.connection.cursor() as cursor:
        while last is not None:
            cursor.execute(FILL, [last, BATCH])
            (last,) = cursor.fetchone()


class Migration(migrations.Migration):
    # Indexes of a live table are made outside of a transaction.
    atomic = False

    dependencies = [("tickets", "0028_decided_by")]

    operations = [
        migrations.RunSQL(TRIGGER, NO_TRIGGER),
        migrations.RunSQL("SET statement_timeout = 0", migrations.RunSQL.noop),
        migrations.RunPython(fill, migrations.RunPython.noop),
        AddIndexConcurrently(
            "ticket",
            models.Index(
                fields=["decided_by", "-created_at", "-id"],
                condition=Q(decided_by__isnull=False),
                name="ticket_decided_by_newest",
            ),
        ),
        AddIndexConcurrently(
            "ticket",
            models.Index(
                fields=["decided_at"],
                include=[
                    "carrier_name",
                    "type",
                    "decided_by",
                    "created_at",
                    "status",
                    "resolution_due_at",
                ],
                condition=Q(decided_at__isnull=False),
                name="ticket_decided_figures",
            ),
        ),
        RemoveIndexConcurrently("ticket", "ticket_decided_at"),
        migrations.RunSQL("RESET statement_timeout", migrations.RunSQL.noop),
    ]
