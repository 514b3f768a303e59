"""When a tracking update was recorded: the day that its partition will go by.

Those that are there count as of today. Nothing deletes shipments, so the foreign key only cost
time for each line of the feed; without it a partition can be dropped and attached on its own.
"""

import django.db.models.deletion
from django.db import migrations, models

from shipments.models import Today


class Migration(migrations.Migration):
    # The index of a live table is made outside of a transaction.
    atomic = False

    dependencies = [("shipments", "0003_search_by_tracking_number")]

    operations = [
        migrations.AlterField(
            "trackingupdate",
            "shipment",
            models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="updates",
                to="shipments.shipment",
            ),
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                # It may have been interrupted behind this.
                migrations.RunSQL(
                    "ALTER TABLE shipments_trackingupdate"
                    " ADD COLUMN IF NOT EXISTS day date NOT NULL DEFAULT CURRENT_DATE",
                    "ALTER TABLE shipments_trackingupdate DROP COLUMN day",
                ),
            ],
            state_operations=[
                migrations.AddField("trackingupdate", "day", models.DateField(db_default=Today())),
            ],
        ),
        migrations.RunSQL("SET statement_timeout = 0", migrations.RunSQL.noop),
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS one_update_per_line_and_day",
            migrations.RunSQL.noop,
        ),
        migrations.RunSQL(
            "CREATE UNIQUE INDEX CONCURRENTLY one_update_per_line_and_day"
            " ON shipments_trackingupdate (shipment_id, digest, day)",
            "DROP INDEX CONCURRENTLY IF EXISTS one_update_per_line_and_day",
        ),
        migrations.RunSQL("RESET statement_timeout", migrations.RunSQL.noop),
    ]
