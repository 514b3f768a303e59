"""Where people are signed in, and who asked for a new password."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("desk", "0006_log_by_time"),
    ]

    operations = [
        migrations.CreateModel(
            name="ResetRequest",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=32)),
                ("address", models.GenericIPAddressField(null=True)),
                ("asked_at", models.DateTimeField(db_index=True)),
            ],
            options={"default_permissions": ()},
        ),
        migrations.CreateModel(
            name="SeenSession",
            fields=[
                (
                    "digest",
                    models.CharField(max_length=32, primary_key=True, serialize=False),
                ),
                ("browser", models.CharField(max_length=30)),
                ("system", models.CharField(max_length=30)),
                ("address", models.GenericIPAddressField(null=True)),
                ("began_at", models.DateTimeField(null=True)),
                ("seen_at", models.DateTimeField(db_index=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={"default_permissions": ()},
        ),
    ]
