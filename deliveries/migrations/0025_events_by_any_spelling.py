"""Events by their tracking number, however it is spelled.

event_tracking stays for the version before, and for numbers of signs alone.
"""

from typing import Any

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from companies.migration_steps import index_partitions


def index_each_partition(apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
    index_partitions(
        schema_editor, "deliveries_event", "event_number", "number", "(search_key(tracking_number))"
    )


class Migration(migrations.Migration):
    # Indexes of a live table are made outside of a transaction.
    atomic = False

    dependencies = [
        ("companies", "0007_search_words"),
        ("deliveries", "0024_secret_mail"),
    ]

    operations = [
        migrations.RunPython(index_each_partition, migrations.RunPython.noop, atomic=False),
    ]
