"""Which documents tickets need, files that agents add, and the index of claims to file."""

import django.db.models.deletion
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import F, Q

KINDS = (
    "opened moved move_refused data_changed assigned unassigned taken reassigned handed_over"
    " related unrelated documents_requested appealed appeal_decided file_added amounts_changed"
    " evidence_taken claim_file_taken other"
)


class Migration(migrations.Migration):
    # An index of a live table is made outside of a transaction.
    atomic = False

    dependencies = [("tickets", "0017_reason_codes_and_amounts")]

    operations = [
        migrations.CreateModel(
            name="RequiredDocument",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "type",
                    models.ForeignKey(
                        blank=True,
                        help_text="Leave empty for any type.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="tickets.tickettype",
                        verbose_name="ticket type",
                    ),
                ),
                (
                    "carrier_name",
                    models.CharField(
                        blank=True,
                        help_text="Leave empty for any carrier.",
                        max_length=100,
                        verbose_name="carrier",
                    ),
                ),
                (
                    "name",
                    models.CharField(
                        help_text="As the company is asked for it, for example Invoice of the"
                        " goods.",
                        max_length=200,
                        verbose_name="name",
                    ),
                ),
            ],
            options={
                "verbose_name": "required document",
                "verbose_name_plural": "required documents",
                "ordering": ["type", "carrier_name", "id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("type", "carrier_name", "name"),
                        name="one_required_document_per_name",
                        nulls_distinct=False,
                    )
                ],
            },
        ),
        migrations.AddField(
            "ticketfile",
            "by",
            models.CharField(
                choices=[("company", "company"), ("agent", "agent")],
                db_default="company",
                default="company",
                max_length=10,
            ),
        ),
        migrations.AddField(
            "ticketfile",
            "actor",
            models.CharField(blank=True, db_default="", default="", max_length=150),
        ),
        migrations.AddField(
            "ticketfile", "public", models.BooleanField(db_default=True, default=True)
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
        migrations.RunSQL("SET statement_timeout = 0", migrations.RunSQL.noop),
        AddIndexConcurrently(
            "ticket",
            models.Index(
                F("amount_claimed").desc(nulls_last=True),
                F("filing_due_at"),
                F("id"),
                condition=Q(~Q(status__in=[2, 3]), filing_due_at__isnull=False),
                name="ticket_claims_to_file",
            ),
        ),
        migrations.RunSQL("RESET statement_timeout", migrations.RunSQL.noop),
    ]
