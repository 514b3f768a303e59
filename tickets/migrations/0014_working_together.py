"""How agents work together: watches, mentions, related tickets, tickets opened for callers.

And their kinds of history (choices alone: no statement for those).
"""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import F, Q

from companies.migration_steps import LockLast

KINDS = (
    "opened moved move_refused data_changed assigned unassigned taken reassigned handed_over"
    " related unrelated documents_requested appealed appeal_decided file_added evidence_taken other"
)
ID = models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


class Migration(migrations.Migration):
    dependencies = [("tickets", "0013_lists_that_are_followed")]

    operations = [
        migrations.CreateModel(
            name="Watch",
            fields=[
                ("id", ID.clone()),
                ("created_at", models.DateTimeField()),
                (
                    "agent",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="watches",
                        to="tickets.agent",
                    ),
                ),
                (
                    "ticket",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="watches",
                        to="tickets.ticket",
                    ),
                ),
            ],
            options={
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(fields=("agent", "ticket"), name="one_watch_per_agent")
                ],
            },
        ),
        migrations.CreateModel(
            name="Mention",
            fields=[
                ("id", ID.clone()),
                ("written", models.CharField(max_length=150)),
                (
                    "agent",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="mentions",
                        to="tickets.agent",
                    ),
                ),
                (
                    "comment",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="mentions",
                        to="tickets.comment",
                    ),
                ),
            ],
            options={
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("comment", "written"), name="one_mention_per_name"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="RelatedTickets",
            fields=[
                ("id", ID.clone()),
                (
                    "first",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="related_later",
                        to="tickets.ticket",
                    ),
                ),
                (
                    "second",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="related_earlier",
                        to="tickets.ticket",
                    ),
                ),
            ],
            options={
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("first", "second"), name="tickets_related_once"
                    ),
                    models.CheckConstraint(
                        condition=Q(first__lt=F("second")), name="related_in_order"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="CallerTicket",
            fields=[
                ("id", ID.clone()),
                ("key", models.UUIDField(unique=True)),
                (
                    "ticket",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="caller_form",
                        to="tickets.ticket",
                    ),
                ),
            ],
            options={"default_permissions": ()},
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
        LockLast("tickets_ticket", "tickets_comment"),
    ]
