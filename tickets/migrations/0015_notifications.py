"""What agents are told of tickets."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q

from companies.migration_steps import LockLast


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("tickets", "0014_working_together"),
    ]

    operations = [
        migrations.CreateModel(
            name="Notification",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("assigned", "Assigned"),
                            ("answered", "Answered"),
                            ("late", "Late"),
                            ("mentioned", "Mentioned"),
                            ("watched", "Watched"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "by",
                    models.CharField(
                        choices=[(who, who) for who in ("company", "agent", "lead", "system")],
                        max_length=10,
                    ),
                ),
                ("actor", models.CharField(blank=True, max_length=150)),
                ("created_at", models.DateTimeField()),
                ("read_at", models.DateTimeField(null=True)),
                (
                    "recipient",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notifications",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "ticket",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notifications",
                        to="tickets.ticket",
                    ),
                ),
            ],
            options={
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["recipient", "-created_at"], name="notification_newest"),
                    models.Index(fields=["created_at"], name="notification_created_at"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("recipient", "ticket", "kind"),
                        condition=Q(read_at=None),
                        name="one_unread_notification",
                    )
                ],
            },
        ),
        LockLast("tickets_ticket"),
    ]
