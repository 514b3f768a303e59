"""Events about tickets. A delivery's order goes by its subject: a shipment, or a ticket.

The subject is the column that held the shipment, so the index of the order stays as it is, and the
engine of a version before keeps the order of tickets too.
"""

from django.db import migrations, models

COLUMN = "ALTER TABLE deliveries_event ADD COLUMN ticket_id bigint;"
DROP = "ALTER TABLE deliveries_event DROP COLUMN ticket_id;"


class Migration(migrations.Migration):
    dependencies = [("deliveries", "0009_sample_sends")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(COLUMN, DROP)],
            state_operations=[
                migrations.AddField("event", "ticket_id", models.BigIntegerField(null=True)),
                migrations.RenameField("delivery", "shipment_id", "subject"),
                migrations.AlterField(
                    "delivery",
                    "subject",
                    models.BigIntegerField(db_column="shipment_id", null=True),
                ),
            ],
        ),
    ]
