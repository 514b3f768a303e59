"""How often a sender has ended while it had a delivery. Zero for a version that does not count."""

from django.db import migrations, models

COLUMN = "ALTER TABLE deliveries_delivery ADD COLUMN crashes smallint NOT NULL DEFAULT 0"
DROP = "ALTER TABLE deliveries_delivery DROP COLUMN crashes"


class Migration(migrations.Migration):
    dependencies = [("deliveries", "0006_catching_up")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(COLUMN, DROP)],
            state_operations=[
                migrations.AddField(
                    "delivery",
                    "crashes",
                    models.PositiveSmallIntegerField(default=0, db_default=0),
                ),
            ],
        ),
    ]
