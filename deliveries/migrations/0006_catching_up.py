"""What pulling retries forward needs to know. All of it is null for a version that does not."""

from django.db import migrations, models

COLUMNS = """
ALTER TABLE deliveries_delivery
  ADD COLUMN own_due_at timestamptz, ADD COLUMN asked_until timestamptz;
"""
DROP = "ALTER TABLE deliveries_delivery DROP COLUMN own_due_at, DROP COLUMN asked_until;"


class Migration(migrations.Migration):
    dependencies = [("deliveries", "0005_facts")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(COLUMNS, DROP)],
            state_operations=[
                migrations.AddField("delivery", "own_due_at", models.DateTimeField(null=True)),
                migrations.AddField("delivery", "asked_until", models.DateTimeField(null=True)),
            ],
        ),
        migrations.AddField("health", "asked_until", models.DateTimeField(null=True)),
        migrations.AddField("health", "catch_up_before", models.DateTimeField(null=True)),
    ]
