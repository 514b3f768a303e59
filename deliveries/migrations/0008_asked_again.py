"""How often a company has asked for a delivery again. Null and zero for a version before."""

from django.db import migrations, models

COLUMNS = """
ALTER TABLE deliveries_delivery
  ADD COLUMN asked_on date, ADD COLUMN asked_times smallint NOT NULL DEFAULT 0;
"""
DROP = "ALTER TABLE deliveries_delivery DROP COLUMN asked_on, DROP COLUMN asked_times;"


class Migration(migrations.Migration):
    dependencies = [("deliveries", "0007_crashes")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(COLUMNS, DROP)],
            state_operations=[
                migrations.AddField("delivery", "asked_on", models.DateField(null=True)),
                migrations.AddField(
                    "delivery",
                    "asked_times",
                    models.PositiveSmallIntegerField(default=0, db_default=0),
                ),
            ],
        ),
    ]
