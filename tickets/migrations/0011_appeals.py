"""Appeals of decisions, and their kinds of history (choices alone: no statement for those)."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q

from companies.migration_steps import LockLast

KINDS = (
    "opened moved move_refused data_changed assigned unassigned taken reassigned"
    " documents_requested appealed appeal_decided file_added evidence_taken other"
)


class Migration(migrations.Migration):
    dependencies = [("tickets", "0010_request_ids_and_rules")]

    operations = [
        migrations.CreateModel(
            name="Appeal",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("declined_at", models.DateTimeField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("pending", "Pending"),
                            ("accepted", "Accepted"),
                            ("refused", "Refused"),
                        ],
                        default="pending",
                        max_length=10,
                    ),
                ),
                ("comment", models.TextField()),
                ("created_at", models.DateTimeField()),
                ("decided_at", models.DateTimeField(null=True)),
                ("reason", models.TextField(blank=True)),
                (
                    "ticket",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="appeals",
                        to="tickets.ticket",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=Q(state="pending"), fields=["ticket"], name="appeal_pending"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("ticket", "declined_at"), name="one_appeal_per_decision"
                    )
                ],
            },
        ),
        migrations.AlterField(
            "historyentry",
            "kind",
            models.CharField(
                choices=[(one, one.replace("_", " ")) for one in KINDS.split()],
                db_default="other",
                max_length=30,
            ),
        ),
        LockLast("tickets_ticket"),
    ]
