"""Tokens of the shipping platform, and the bundles of its feed that were answered."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("companies", "0005_languages")]

    operations = [
        migrations.CreateModel(
            name="PlatformToken",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("prefix", models.CharField(editable=False, max_length=20)),
                ("digest", models.CharField(editable=False, max_length=64, unique=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                ("last_used_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("name", models.CharField(blank=True, max_length=100)),
            ],
            options={"verbose_name": "platform token"},
        ),
        migrations.CreateModel(
            name="KeptBundle",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=255, unique=True)),
                ("fingerprint", models.CharField(max_length=64)),
                ("busy_until", models.DateTimeField(null=True)),
                ("answer", models.TextField(blank=True)),
                ("created_at", models.DateTimeField()),
            ],
            options={
                "indexes": [models.Index(fields=["created_at"], name="kept_bundle_age")],
            },
        ),
    ]
