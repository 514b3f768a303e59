"""Loops can be given a webhook by another loop, and can be asked for their place."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("deliveries", "0012_request_ids")]

    operations = [
        migrations.AddField(
            model_name="loop",
            name="takes_lanes",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="loop",
            name="worker",
            field=models.CharField(blank=True, db_default="", max_length=300),
        ),
        migrations.AddField(
            model_name="loop",
            name="yields",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
