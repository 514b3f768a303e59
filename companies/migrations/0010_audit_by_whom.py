"""What somebody did, and who did something, in the order of time."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    # Indexes of a live table are made outside of a transaction.
    atomic = False

    dependencies = [("companies", "0009_sums")]

    operations = [
        AddIndexConcurrently(
            "auditentry", models.Index(fields=["actor", "at"], name="audit_by_actor")
        ),
        AddIndexConcurrently("auditentry", models.Index(fields=["act", "at"], name="audit_by_act")),
    ]
