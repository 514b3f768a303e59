"""Indexes over open tickets name the terminal statuses, made while tickets are written.

Each takes the place of one that named the open statuses. That one stays, under another name,
until the new one is there.
"""

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models

NOT_DECIDED = models.Q(("status__in", [2, 3]), _negated=True)
INDEXES = [
    models.Index(
        condition=models.Q(("agent", None), NOT_DECIDED),
        fields=["id"],
        include=("status",),
        name="ticket_unassigned",
    ),
    models.Index(
        condition=NOT_DECIDED,
        fields=["agent", "due_at", "id"],
        include=("status",),
        name="ticket_agent_due",
    ),
    models.Index(condition=NOT_DECIDED, fields=["id"], name="ticket_all_open"),
    models.Index(condition=NOT_DECIDED, fields=["status", "-id"], name="ticket_open_newest"),
    models.Index(condition=NOT_DECIDED, fields=["due_at", "id"], name="ticket_open_due"),
    models.Index(condition=NOT_DECIDED, fields=["filing_due_at", "id"], name="ticket_open_filing"),
    models.Index(
        condition=NOT_DECIDED,
        fields=["created_at"],
        include=("carrier_name", "type", "agent", "due_at", "filing_due_at", "status"),
        name="ticket_open_figures",
    ),
]


def exchanged(index: models.Index) -> list[migrations.operations.base.Operation]:
    before = f"{index.name}_before"
    return [
        migrations.RenameIndex("ticket", old_name=index.name, new_name=before),
        AddIndexConcurrently("ticket", index),
        RemoveIndexConcurrently("ticket", before),
    ]


class Migration(migrations.Migration):
    # Indexes of a live table are made outside of a transaction.
    atomic = False

    dependencies = [("tickets", "0003_history_in_codes")]

    operations = [
        migrations.RunSQL("SET statement_timeout = 0", migrations.RunSQL.noop),
        *(operation for index in INDEXES for operation in exchanged(index)),
        migrations.RunSQL("RESET statement_timeout", migrations.RunSQL.noop),
    ]
