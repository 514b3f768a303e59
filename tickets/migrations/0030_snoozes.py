"""Tickets that their agents put aside.

And the kinds of history and notification (choices alone: no statement for those).
"""

import django.db.models.deletion
from django.db import migrations, models

from companies.migration_steps import LockLast

KINDS = (
    "opened moved move_refused data_changed assigned unassigned taken reassigned handed_over"
    " related unrelated snoozed woken documents_requested appealed appeal_decided file_added"
    " amounts_changed reminded escalated evidence_taken claim_file_taken other"
)
NOTIFICATIONS = "assigned answered late mentioned watched woken escalated held"


class Migration(migrations.Migration):
    dependencies = [("tickets", "0029_past_deciders")]

    operations = [
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
                choices=[(one, one.capitalize()) for one in NOTIFICATIONS.split()], max_length=10
            ),
        ),
        migrations.CreateModel(
            "Snooze",
            fields=[
                (
                    "ticket",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="snooze",
                        serialize=False,
                        to="tickets.ticket",
                    ),
                ),
                ("until", models.DateTimeField()),
                (
                    "agent",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="tickets.agent",
                    ),
                ),
            ],
            options={
                "default_permissions": (),
                "indexes": [models.Index(fields=["agent", "until"], name="snooze_of_agent")],
            },
        ),
        LockLast("tickets_ticket"),
    ]
