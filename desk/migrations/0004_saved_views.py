"""Lists of tickets that agents save under a name."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("desk", "0003_preferences"),
    ]

    operations = [
        migrations.CreateModel(
            name="SavedView",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=60)),
                ("query", models.CharField(max_length=500)),
                ("shared", models.BooleanField(db_default=False, default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
                "permissions": [("share_view", "Can share saved views")],
                "indexes": [
                    models.Index(
                        condition=models.Q(("shared", True)),
                        fields=["name"],
                        name="saved_view_shared",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("owner", "name"), name="one_view_of_a_name_per_person"
                    )
                ],
            },
        ),
    ]
