"""In which language and zone each person reads the desk."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import tickets.local_time


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("desk", "0002_failed_rows"),
    ]

    operations = [
        migrations.CreateModel(
            name="Preferences",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="preferences",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "language",
                    models.CharField(
                        blank=True, choices=[("en", "English"), ("es", "Spanish")], max_length=5
                    ),
                ),
                (
                    "time_zone",
                    models.CharField(
                        blank=True, max_length=50, validators=[tickets.local_time.check_zone]
                    ),
                ),
            ],
            options={"default_permissions": ()},
        ),
    ]
