"""The indexes behind the desk's queues and filters, made while tickets are written."""

import django.db.models.deletion
from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    # Indexes of a live table are made outside of a transaction.
    atomic = False

    dependencies = [
        ("companies", "0002_plan"),
        ("tickets", "0008_what_happened_before_the_clocks"),
    ]

    operations = [
        migrations.RunSQL("SET statement_timeout = 0", migrations.RunSQL.noop),
        AddIndexConcurrently(
            model_name="ticket",
            index=models.Index(
                condition=models.Q(("status__in", [1, 4, 5, 6, 10])),
                fields=["agent", "due_at", "id"],
                include=("status",),
                name="ticket_agent_due",
            ),
        ),
        AddIndexConcurrently(
            model_name="ticket",
            index=models.Index(
                condition=models.Q(("status__in", [1, 4, 5, 6, 10])),
                fields=["id"],
                name="ticket_all_open",
            ),
        ),
        AddIndexConcurrently(
            model_name="ticket",
            index=models.Index(
                condition=models.Q(("status__in", [1, 4, 5, 6, 10])),
                fields=["due_at", "id"],
                name="ticket_open_due",
            ),
        ),
        AddIndexConcurrently(
            model_name="ticket",
            index=models.Index(
                condition=models.Q(("status__in", [1, 4, 5, 6, 10])),
                fields=["filing_due_at", "id"],
                name="ticket_open_filing",
            ),
        ),
        AddIndexConcurrently(
            model_name="ticket",
            index=models.Index(fields=["agent", "-created_at", "-id"], name="ticket_agent_newest"),
        ),
        AddIndexConcurrently(
            model_name="ticket",
            index=models.Index(fields=["type", "-created_at", "-id"], name="ticket_type_newest"),
        ),
        AddIndexConcurrently(
            model_name="ticket",
            index=models.Index(
                fields=["carrier_name", "-created_at", "-id"], name="ticket_carrier_newest"
            ),
        ),
        RemoveIndexConcurrently(
            model_name="ticket",
            name="ticket_agent_open",
        ),
        RemoveIndexConcurrently(
            model_name="ticket",
            name="ticket_due",
        ),
        RemoveIndexConcurrently(
            model_name="ticket",
            name="ticket_filing",
        ),
        migrations.AlterField(
            model_name="ticket",
            name="agent",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="tickets",
                to="tickets.agent",
            ),
        ),
        migrations.AlterField(
            model_name="ticket",
            name="type",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="tickets.tickettype",
            ),
        ),
        migrations.RunSQL("RESET statement_timeout", migrations.RunSQL.noop),
    ]
