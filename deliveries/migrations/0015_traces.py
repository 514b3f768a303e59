"""Which span published an event, so that its attempts join the trace."""

from django.db import migrations, models

COLUMN = "ALTER TABLE deliveries_event ADD COLUMN traceparent varchar(55);"
DROP = "ALTER TABLE deliveries_event DROP COLUMN traceparent;"


class Migration(migrations.Migration):
    dependencies = [("deliveries", "0014_busy_slots")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(COLUMN, DROP)],
            state_operations=[
                migrations.AddField(
                    "event", "traceparent", models.CharField(max_length=55, null=True)
                ),
            ],
        ),
    ]
