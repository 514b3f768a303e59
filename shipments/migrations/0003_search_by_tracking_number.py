"""Tracking numbers, or their beginnings, in any case, with or without spaces and hyphens."""

from django.db import migrations


class Migration(migrations.Migration):
    # The index of a live table is made outside of a transaction.
    atomic = False

    dependencies = [
        ("companies", "0007_search_words"),
        ("shipments", "0002_last_event_at"),
    ]

    operations = [
        migrations.RunSQL("SET statement_timeout = 0", migrations.RunSQL.noop),
        # What an interrupted one left behind is no index.
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS shipment_search_key", migrations.RunSQL.noop
        ),
        migrations.RunSQL(
            "CREATE INDEX CONCURRENTLY shipment_search_key ON shipments_shipment"
            " (search_key(tracking_number) text_pattern_ops)",
            "DROP INDEX CONCURRENTLY IF EXISTS shipment_search_key",
        ),
        migrations.RunSQL("RESET statement_timeout", migrations.RunSQL.noop),
    ]
