"""Which request caused an event. Null where none did, or an earlier version stored it."""

from django.db import migrations, models

COLUMN = "ALTER TABLE deliveries_event ADD COLUMN request_id varchar(128);"
DROP = "ALTER TABLE deliveries_event DROP COLUMN request_id;"


class Migration(migrations.Migration):
    dependencies = [("deliveries", "0011_event_stream")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(COLUMN, DROP)],
            state_operations=[
                migrations.AddField(
                    "event", "request_id", models.CharField(max_length=128, null=True)
                ),
            ],
        ),
    ]
