"""What ended badly, newest first, over all webhooks: the desk's list asks for it."""

from django.db import migrations

FORWARD = """
CREATE INDEX delivery_ended_badly ON deliveries_delivery (id) WHERE state IN (2, 3);
"""
BACKWARD = "DROP INDEX delivery_ended_badly;"


class Migration(migrations.Migration):
    dependencies = [("deliveries", "0003_first_attempts_first")]

    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
