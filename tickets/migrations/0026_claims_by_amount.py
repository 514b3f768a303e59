"""What the desk's filters by amount ask for."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    # An index of a live table is made outside of a transaction.
    atomic = False

    dependencies = [("tickets", "0025_names_in_reading_order")]

    operations = [
        migrations.RunSQL("SET statement_timeout = 0", migrations.RunSQL.noop),
        AddIndexConcurrently(
            "ticket",
            models.Index(
                fields=["currency", "amount_claimed"],
                condition=Q(amount_claimed__isnull=False),
                name="ticket_amount_claimed",
            ),
        ),
        migrations.RunSQL("RESET statement_timeout", migrations.RunSQL.noop),
    ]
