"""What the automations ask for: silent tickets of a type, and those that were escalated."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    # An index of a live table is made outside of a transaction.
    atomic = False

    dependencies = [("tickets", "0019_automations")]

    operations = [
        migrations.RunSQL("SET statement_timeout = 0", migrations.RunSQL.noop),
        AddIndexConcurrently(
            "ticket",
            models.Index(
                fields=["status", "type", "updated_at", "id"],
                condition=~Q(status__in=[2, 3]),
                name="ticket_silent",
            ),
        ),
        AddIndexConcurrently(
            "ticket",
            models.Index(
                fields=["due_at", "id"],
                condition=Q(~Q(status__in=[2, 3]), escalated_due_at__isnull=False),
                name="ticket_escalated",
            ),
        ),
        migrations.RunSQL("RESET statement_timeout", migrations.RunSQL.noop),
    ]
