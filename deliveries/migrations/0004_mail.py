"""Emails that are still to be sent."""

import uuid

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("deliveries", "0003_periodic_tasks"),
    ]

    operations = [
        migrations.CreateModel(
            name="Mail",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, primary_key=True, serialize=False)),
                ("address", models.EmailField(max_length=254)),
                ("subject", models.CharField(max_length=200)),
                ("text", models.TextField()),
                ("created_at", models.DateTimeField()),
                ("due_at", models.DateTimeField(db_index=True)),
                ("tries", models.PositiveSmallIntegerField(default=0, help_text="Begun.")),
            ],
        ),
    ]
