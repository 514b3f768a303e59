import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("companies", "0001_initial"),
        ("shipments", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="TicketType",
            fields=[
                ("id", models.PositiveIntegerField(primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=50, unique=True)),
                ("description", models.CharField(blank=True, max_length=300)),
                (
                    "reference",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "nothing"),
                            ("guide", "a shipment"),
                            ("credit", "a credit"),
                            ("warehouse-package", "a warehouse package"),
                            ("legal-credit", "documents"),
                        ],
                        max_length=20,
                    ),
                ),
                ("reference_required", models.BooleanField(default=True)),
                ("active", models.BooleanField(default=True)),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="Agent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "capacity",
                    models.PositiveIntegerField(default=50, help_text="Running tickets at a time."),
                ),
                ("available", models.BooleanField(default=True)),
                ("last_assigned_at", models.DateTimeField(editable=False, null=True)),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="agent",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "skills",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Ticket types they take; none chosen means all.",
                        to="tickets.tickettype",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Ticket",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "status",
                    models.PositiveSmallIntegerField(
                        choices=[
                            (1, "Pending"),
                            (2, "Accepted"),
                            (3, "Declined"),
                            (4, "Incomplete"),
                            (5, "Follow up"),
                            (6, "In review"),
                            (10, "Claim in review"),
                        ],
                        default=1,
                    ),
                ),
                (
                    "comments",
                    models.TextField(blank=True, help_text="What the company first wrote."),
                ),
                ("data", models.TextField(blank=True, null=True)),
                ("shipment_id", models.BigIntegerField(blank=True, null=True)),
                ("credit_id", models.BigIntegerField(blank=True, null=True)),
                ("carrier_id", models.BigIntegerField(blank=True, null=True)),
                ("warehouse_package_id", models.CharField(blank=True, max_length=255, null=True)),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("created_at", models.DateTimeField()),
                ("updated_at", models.DateTimeField()),
                (
                    "agent",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="tickets",
                        to="tickets.agent",
                    ),
                ),
                (
                    "company",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="tickets",
                        to="companies.company",
                    ),
                ),
                (
                    "type",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tickets.tickettype",
                    ),
                ),
            ],
            options={
                "permissions": [("reopen_ticket", "Can reopen a decided ticket")],
            },
        ),
        migrations.CreateModel(
            name="Rating",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("rating", models.PositiveSmallIntegerField()),
                ("comment", models.TextField(blank=True)),
                ("created_at", models.DateTimeField()),
                (
                    "ticket",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="rating",
                        to="tickets.ticket",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Document",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("position", models.PositiveIntegerField()),
                ("field_id", models.CharField(max_length=50)),
                ("key", models.TextField(null=True)),
                (
                    "type",
                    models.CharField(
                        choices=[("file", "File"), ("input", "Input"), ("date", "Date")],
                        max_length=5,
                        null=True,
                    ),
                ),
                ("value", models.TextField(null=True)),
                (
                    "ticket",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="documents",
                        to="tickets.ticket",
                    ),
                ),
            ],
            options={
                "ordering": ["position"],
            },
        ),
        migrations.CreateModel(
            name="IncidenceLink",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("created_at", models.DateTimeField()),
                (
                    "incidence",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="ticket_links",
                        to="shipments.incidence",
                    ),
                ),
                (
                    "ticket",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="incidence_links",
                        to="tickets.ticket",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("ticket", "incidence"), name="one_link_per_ticket_and_incidence"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="HistoryEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "by",
                    models.CharField(
                        choices=[
                            ("company", "company"),
                            ("agent", "agent"),
                            ("lead", "lead"),
                            ("system", "system"),
                        ],
                        max_length=10,
                    ),
                ),
                ("actor", models.CharField(blank=True, max_length=150)),
                (
                    "was",
                    models.PositiveSmallIntegerField(
                        choices=[
                            (1, "Pending"),
                            (2, "Accepted"),
                            (3, "Declined"),
                            (4, "Incomplete"),
                            (5, "Follow up"),
                            (6, "In review"),
                            (10, "Claim in review"),
                        ],
                        null=True,
                    ),
                ),
                (
                    "now",
                    models.PositiveSmallIntegerField(
                        choices=[
                            (1, "Pending"),
                            (2, "Accepted"),
                            (3, "Declined"),
                            (4, "Incomplete"),
                            (5, "Follow up"),
                            (6, "In review"),
                            (10, "Claim in review"),
                        ]
                    ),
                ),
                ("reason", models.TextField(blank=True)),
                ("changes", models.JSONField(default=dict)),
                ("public", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField()),
                (
                    "ticket",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="history",
                        to="tickets.ticket",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "history",
                "ordering": ["id"],
                "indexes": [models.Index(fields=["ticket", "id"], name="history_of_ticket")],
            },
        ),
        migrations.CreateModel(
            name="Comment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "by",
                    models.CharField(
                        choices=[("company", "company"), ("agent", "agent")], max_length=10
                    ),
                ),
                ("actor", models.CharField(blank=True, max_length=150)),
                ("public", models.BooleanField(default=True)),
                ("text", models.TextField()),
                (
                    "status",
                    models.PositiveSmallIntegerField(
                        choices=[
                            (1, "Pending"),
                            (2, "Accepted"),
                            (3, "Declined"),
                            (4, "Incomplete"),
                            (5, "Follow up"),
                            (6, "In review"),
                            (10, "Claim in review"),
                        ]
                    ),
                ),
                ("created_at", models.DateTimeField()),
                (
                    "ticket",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="conversation",
                        to="tickets.ticket",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "indexes": [models.Index(fields=["ticket", "id"], name="comment_of_ticket")],
            },
        ),
        migrations.AddIndex(
            model_name="ticket",
            index=models.Index(
                fields=["company", "-created_at", "-id"],
                include=("status", "type"),
                name="ticket_company_newest",
            ),
        ),
        migrations.AddIndex(
            model_name="ticket",
            index=models.Index(fields=["company", "status"], name="ticket_company_status"),
        ),
        migrations.AddIndex(
            model_name="ticket",
            index=models.Index(
                condition=models.Q(("shipment_id__isnull", False)),
                fields=["shipment_id", "company", "type"],
                name="ticket_shipment",
            ),
        ),
        migrations.AddIndex(
            model_name="ticket",
            index=models.Index(
                condition=models.Q(("status__in", [1, 4, 5, 6, 10])),
                fields=["agent", "status"],
                name="ticket_agent_open",
            ),
        ),
        migrations.AddIndex(
            model_name="ticket",
            index=models.Index(
                condition=models.Q(("agent", None), ("status__in", [1, 5, 6, 10])),
                fields=["id"],
                name="ticket_unassigned",
            ),
        ),
        migrations.AddIndex(
            model_name="ticket",
            index=models.Index(
                condition=models.Q(("status__in", [1, 4, 5, 6, 10])),
                fields=["status", "-id"],
                name="ticket_open_newest",
            ),
        ),
    ]
