"""Invitations of agents, and what leads have settled when the desk was set up."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("desk", "0004_saved_views"),
    ]

    operations = [
        migrations.CreateModel(
            name="Invitation",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="invitation",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("invited_by", models.CharField(blank=True, max_length=150)),
                ("sent_at", models.DateTimeField()),
                ("accepted_at", models.DateTimeField(null=True)),
                ("revoked_at", models.DateTimeField(null=True)),
            ],
            options={"default_permissions": ()},
        ),
        migrations.CreateModel(
            name="SettledStep",
            fields=[
                ("slug", models.CharField(max_length=20, primary_key=True, serialize=False)),
                ("settled_by", models.CharField(max_length=150)),
                ("settled_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={"default_permissions": ()},
        ),
        migrations.AddField(
            model_name="macro",
            name="language",
            field=models.CharField(
                blank=True,
                choices=[("en", "English"), ("es", "Spanish")],
                db_default="",
                help_text="A reply in it is offered only for companies of this language.",
                max_length=5,
            ),
        ),
    ]
