"""Reminders, closing of silent tickets and escalation, with their reason code.

And their kinds of history and notification (choices alone: no statement for those).
"""

import django.core.validators
import django.db.models.deletion
from django.apps.registry import Apps
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from companies.migration_steps import LockLast

KINDS = (
    "opened moved move_refused data_changed assigned unassigned taken reassigned handed_over"
    " related unrelated documents_requested appealed appeal_decided file_added amounts_changed"
    " reminded escalated evidence_taken claim_file_taken other"
)


def few(default: int, most: int = 60) -> "models.PositiveSmallIntegerField[int, int]":
    validators = [
        django.core.validators.MinValueValidator(1),
        django.core.validators.MaxValueValidator(most),
    ]
    return models.PositiveSmallIntegerField(default=default, validators=validators)


def text() -> "models.TextField[str, str]":
    return models.TextField(blank=True, max_length=2000)


def add_code(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("tickets", "ReasonCode").objects.get_or_create(
        code="no_answer",
        defaults={
            "name_en": "No answer from the company",
            "name_es": "Sin respuesta de la empresa",
            "for_declined": True,
            "position": 165,
        },
    )


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("tickets", "0018_required_documents_and_agents_files"),
    ]

    operations = [
        migrations.CreateModel(
            name="Automation",
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
                            ("remind", "Reminders"),
                            ("close", "Closing silent tickets"),
                            ("escalate", "Escalation"),
                        ],
                        max_length=10,
                    ),
                ),
                ("active", models.BooleanField(default=False)),
                ("wait_days", few(3)),
                ("times", few(2, most=10)),
                ("last_days", few(5)),
                ("hours_before", few(2)),
                ("reassigns", models.BooleanField(default=True)),
                ("text_en", text()),
                ("text_es", text()),
                ("last_text_en", text()),
                ("last_text_es", text()),
                ("changed_at", models.DateTimeField(null=True)),
                ("ran_at", models.DateTimeField(null=True)),
                ("looked_at", models.DateTimeField(null=True)),
                ("looked_id", models.BigIntegerField(null=True)),
                (
                    "changed_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "type",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="automations",
                        to="tickets.tickettype",
                    ),
                ),
            ],
            options={
                "verbose_name": "automation",
                "verbose_name_plural": "automations",
                "ordering": ["kind", "type"],
                "default_permissions": ("view", "change"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("kind", "type"), name="one_automation_per_kind_and_type"
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
        migrations.AlterField(
            "notification",
            "kind",
            models.CharField(
                choices=[
                    (one, one.capitalize())
                    for one in ["assigned", "answered", "late", "mentioned", "watched", "escalated"]
                ],
                max_length=10,
            ),
        ),
        migrations.RunPython(add_code, migrations.RunPython.noop),
        LockLast(
            "tickets_ticket",
            operations=[
                migrations.AddField(
                    "ticket", "escalated_due_at", models.DateTimeField(editable=False, null=True)
                ),
            ],
        ),
    ]
