"""Files of tickets, and the documents that agents ask for."""

import django.db.models.deletion
from django.db import migrations, models

from companies.migration_steps import LockLast


class Migration(migrations.Migration):
    dependencies = [
        ("companies", "0004_deployment"),
        ("tickets", "0008_last_event_at"),
    ]

    operations = [
        migrations.CreateModel(
            name="UnfinishedFile",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=255, unique=True)),
                ("created_at", models.DateTimeField(db_index=True)),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.AlterField(
            model_name="historyentry",
            name="kind",
            field=models.CharField(
                choices=[
                    ("opened", "opened"),
                    ("moved", "moved"),
                    ("move_refused", "move refused"),
                    ("data_changed", "data changed"),
                    ("assigned", "assigned"),
                    ("unassigned", "unassigned"),
                    ("taken", "taken"),
                    ("reassigned", "reassigned"),
                    ("documents_requested", "documents requested"),
                    ("file_added", "file added"),
                    ("evidence_taken", "evidence taken"),
                    ("other", "other"),
                ],
                db_default="other",
                max_length=30,
            ),
        ),
        migrations.CreateModel(
            name="RequestedDocument",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                ("created_at", models.DateTimeField()),
                ("fulfilled_at", models.DateTimeField(null=True)),
                (
                    "ticket",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="requested_documents",
                        to="tickets.ticket",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="TicketFile",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=150)),
                ("description", models.TextField(blank=True)),
                ("media_type", models.CharField(max_length=50)),
                ("size", models.PositiveIntegerField()),
                ("sha256", models.CharField(max_length=64)),
                ("active", models.BooleanField(default=False)),
                ("stored_as", models.CharField(max_length=255, unique=True)),
                ("thumbnail", models.CharField(max_length=255, null=True)),
                ("created_at", models.DateTimeField()),
                (
                    "company",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="files",
                        to="companies.company",
                    ),
                ),
                (
                    "requested_document",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="files",
                        to="tickets.requesteddocument",
                    ),
                ),
                (
                    "ticket",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="files",
                        to="tickets.ticket",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "default_permissions": (),
            },
        ),
        migrations.AddIndex(
            model_name="requesteddocument",
            index=models.Index(fields=["ticket", "id"], name="requested_of_ticket"),
        ),
        migrations.AddConstraint(
            model_name="requesteddocument",
            constraint=models.UniqueConstraint(
                condition=models.Q(("fulfilled_at", None)),
                fields=("ticket", "name"),
                name="one_open_request_per_name",
            ),
        ),
        migrations.AddIndex(
            model_name="ticketfile",
            index=models.Index(
                condition=models.Q(("ticket__isnull", False)),
                fields=["ticket", "id"],
                name="file_of_ticket",
            ),
        ),
        migrations.AddIndex(
            model_name="ticketfile",
            index=models.Index(
                condition=models.Q(("ticket", None)),
                fields=["company", "created_at"],
                name="file_unattached",
            ),
        ),
        migrations.AddIndex(
            model_name="ticketfile",
            index=models.Index(
                condition=models.Q(("thumbnail", None)),
                fields=["id"],
                name="file_without_thumbnail",
            ),
        ),
        LockLast("tickets_ticket", "tickets_historyentry"),
    ]
