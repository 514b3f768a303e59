"""What retention walks: attached files whose content is still there."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    # An index of a live table is made outside of a transaction.
    atomic = False

    dependencies = [("tickets", "0021_history_can_be_blanked")]

    operations = [
        migrations.RunSQL("SET statement_timeout = 0", migrations.RunSQL.noop),
        AddIndexConcurrently(
            "ticketfile",
            models.Index(
                fields=["id"],
                condition=Q(
                    Q(ticket__isnull=False),
                    ~Q(stored_as__startswith="erased/"),
                    ~Q(stored_as__startswith="forgotten/"),
                ),
                name="file_with_content",
            ),
        ),
    ]
