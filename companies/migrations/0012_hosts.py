"""Hosts report what their checks find, and the deployment's key is stored (companies.hosts)."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("companies", "0011_erasures")]

    operations = [
        migrations.CreateModel(
            name="HostReport",
            fields=[
                (
                    "name",
                    models.CharField(max_length=255, primary_key=True, serialize=False),
                ),
                ("reported_at", models.DateTimeField()),
                ("findings", models.JSONField(default=dict)),
                ("traits", models.JSONField(default=dict)),
            ],
            options={"default_permissions": ()},
        ),
        migrations.AddField(
            "deployment", "key", models.CharField(blank=True, db_default="", max_length=12)
        ),
    ]
