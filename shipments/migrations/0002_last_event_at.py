"""When the latest event of a shipment was.

Events so far carry the time at which they were stored, and so do those of a version that does not
know this column. The default is later than any of a shipment that is there already, and not
earlier than any of one that such a version adds, until it tells of it again.
"""

from django.db import migrations, models

COLUMN = "ALTER TABLE shipments_shipment ADD COLUMN last_event_at timestamptz DEFAULT now();"
DROP = "ALTER TABLE shipments_shipment DROP COLUMN last_event_at;"


class Migration(migrations.Migration):
    dependencies = [("shipments", "0001_initial")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(COLUMN, DROP)],
            state_operations=[
                migrations.AddField("shipment", "last_event_at", models.DateTimeField(null=True)),
            ],
        ),
    ]
