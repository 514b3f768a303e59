"""Tickets and their history, agents and shifts, service levels, and what automates the work."""

import datetime
import uuid
from decimal import Decimal

import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.core.validators
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import core.data.encryption
import core.data.reading_order
import core.values.languages
import tickets.local_time
import tickets.models.types


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("companies", "0002_functions"),
        ("otp_totp", "0003_add_timestamps"),
        ("shipments", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Calendar",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=50, unique=True, verbose_name="name")),
                (
                    "time_zone",
                    models.CharField(
                        default="UTC",
                        help_text="For example Europe/Madrid.",
                        max_length=50,
                        verbose_name="time zone",
                    ),
                ),
            ],
            options={
                "verbose_name": "calendar",
                "verbose_name_plural": "calendars",
                "ordering": [core.data.reading_order.ReadingOrder("name")],
            },
        ),
        migrations.CreateModel(
            name="PhoneKey",
            fields=[
                (
                    "device",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="phone_key",
                        serialize=False,
                        to="otp_totp.totpdevice",
                    ),
                ),
                ("key", core.data.encryption.EncryptedTextField(editable=False)),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="TextOfDay",
            fields=[
                (
                    "company",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="companies.company",
                    ),
                ),
                ("day", models.DateField()),
                ("bytes", models.BigIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name="TicketType",
            fields=[
                ("id", models.PositiveIntegerField(primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=50, unique=True, verbose_name="name")),
                (
                    "description",
                    models.CharField(blank=True, max_length=300, verbose_name="description"),
                ),
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
                        verbose_name="reference",
                    ),
                ),
                (
                    "reference_required",
                    models.BooleanField(default=True, verbose_name="reference required"),
                ),
                ("active", models.BooleanField(default=True, verbose_name="active")),
                (
                    "inputs",
                    models.JSONField(
                        blank=True,
                        db_default=[],
                        default=list,
                        help_text='What companies are asked for with a ticket of this type, as a JSON list: [{"name": "content", "el": "input", "required": true, "label": "What is in it?"}]. A select also has options, a list of texts.',
                        validators=[tickets.models.types.check_inputs],
                        verbose_name="inputs",
                    ),
                ),
                (
                    "files",
                    models.JSONField(
                        blank=True,
                        db_default=[],
                        default=list,
                        help_text='What companies are asked to send with it, as a JSON list: [{"name": "Photo of the damage", "description": "The box from outside."}].',
                        validators=[tickets.models.types.check_files],
                        verbose_name="files",
                    ),
                ),
                (
                    "assistants_blocked",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Assistants that companies use open no tickets of this type.",
                        verbose_name="closed to AI assistants",
                    ),
                ),
                (
                    "use_case",
                    models.CharField(
                        blank=True,
                        db_default="",
                        help_text="For AI assistants: when to choose this type. Empty: the description.",
                        max_length=300,
                        verbose_name="use case",
                    ),
                ),
                (
                    "assistant_notes",
                    models.TextField(
                        blank=True,
                        db_default="",
                        help_text="One per line: what to mind, and what this type is not for.",
                        verbose_name="notes for AI assistants",
                    ),
                ),
            ],
            options={
                "verbose_name": "ticket type",
                "verbose_name_plural": "ticket types",
                "ordering": ["id"],
            },
        ),
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
        migrations.CreateModel(
            name="Phone",
            fields=[],
            options={
                "proxy": True,
                "default_permissions": (),
                "indexes": [],
                "constraints": [],
            },
            bases=("otp_totp.totpdevice",),
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
                    models.PositiveIntegerField(
                        default=50, help_text="Active tickets at a time.", verbose_name="capacity"
                    ),
                ),
                ("available", models.BooleanField(default=True, verbose_name="available")),
                (
                    "time_zone",
                    models.CharField(
                        default="UTC",
                        help_text="Time zone of the shifts, for example Europe/Madrid.",
                        max_length=50,
                        validators=[tickets.local_time.check_zone],
                        verbose_name="time zone",
                    ),
                ),
                (
                    "last_assigned_at",
                    models.DateTimeField(
                        editable=False, null=True, verbose_name="last assigned at"
                    ),
                ),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="agent",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="user",
                    ),
                ),
                (
                    "skills",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Ticket types the agent takes; none means all.",
                        to="tickets.tickettype",
                        verbose_name="skills",
                    ),
                ),
            ],
            options={"verbose_name": "agent", "verbose_name_plural": "agents"},
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
                        verbose_name="status",
                    ),
                ),
                (
                    "comments",
                    models.TextField(blank=True, help_text="What the company first wrote."),
                ),
                ("data", models.TextField(blank=True, null=True)),
                ("shipment_id", models.BigIntegerField(blank=True, null=True)),
                ("credit_id", models.BigIntegerField(blank=True, null=True)),
                (
                    "carrier_id",
                    models.BigIntegerField(blank=True, null=True, verbose_name="carrier id"),
                ),
                ("warehouse_package_id", models.CharField(blank=True, max_length=255, null=True)),
                (
                    "carrier_name",
                    models.CharField(
                        blank=True, editable=False, max_length=100, verbose_name="carrier name"
                    ),
                ),
                ("first_response_due_at", models.DateTimeField(editable=False, null=True)),
                ("resolution_due_at", models.DateTimeField(editable=False, null=True)),
                ("due_at", models.DateTimeField(editable=False, null=True, verbose_name="due at")),
                ("escalated_due_at", models.DateTimeField(editable=False, null=True)),
                ("filing_due_at", models.DateTimeField(editable=False, null=True)),
                ("first_responded_at", models.DateTimeField(editable=False, null=True)),
                (
                    "company_spoke_last",
                    models.BooleanField(db_default=False, default=False, editable=False),
                ),
                ("decided_at", models.DateTimeField(editable=False, null=True)),
                (
                    "reason_code",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        editable=False,
                        max_length=40,
                        verbose_name="reason code",
                    ),
                ),
                (
                    "amount_claimed",
                    models.DecimalField(decimal_places=3, editable=False, max_digits=14, null=True),
                ),
                (
                    "amount_offered",
                    models.DecimalField(decimal_places=3, editable=False, max_digits=14, null=True),
                ),
                (
                    "amount_paid",
                    models.DecimalField(decimal_places=3, editable=False, max_digits=14, null=True),
                ),
                (
                    "currency",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        editable=False,
                        max_length=3,
                        verbose_name="currency",
                    ),
                ),
                ("clock_digest", models.BigIntegerField(default=0, editable=False)),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("created_at", models.DateTimeField(verbose_name="created at")),
                ("updated_at", models.DateTimeField(verbose_name="updated at")),
                ("last_event_at", models.DateTimeField(editable=False, null=True)),
                (
                    "agent",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="tickets",
                        to="tickets.agent",
                        verbose_name="agent",
                    ),
                ),
                (
                    "company",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="tickets",
                        to="companies.company",
                        verbose_name="company",
                    ),
                ),
                (
                    "decided_by",
                    models.ForeignKey(
                        db_index=False,
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="decided by",
                    ),
                ),
                (
                    "type",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tickets.tickettype",
                        verbose_name="type",
                    ),
                ),
            ],
            options={
                "verbose_name": "ticket",
                "verbose_name_plural": "tickets",
                "permissions": [
                    ("reopen_ticket", "Can reopen a decided ticket"),
                    ("assign_ticket", "Can assign tickets to other agents"),
                    ("export_ticket", "Can export lists of tickets"),
                ],
            },
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
            name="RelatedTickets",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
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
            name="PendingAnswer",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("batch", models.UUIDField(db_index=True, default=uuid.uuid4)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("reply", "Reply"),
                            ("move", "Move"),
                            ("accept", "Accept"),
                            ("refuse", "Refuse"),
                        ],
                        default="reply",
                        max_length=10,
                    ),
                ),
                ("text", models.TextField(blank=True)),
                ("public", models.BooleanField(default=True)),
                ("to", models.PositiveSmallIntegerField(null=True)),
                ("requested", models.JSONField(default=list)),
                ("code", models.CharField(blank=True, max_length=60)),
                ("amounts", models.JSONField(null=True)),
                ("files", models.JSONField(default=list)),
                ("alone", models.BooleanField(default=False)),
                ("seen", models.CharField(blank=True, max_length=60)),
                ("due_at", models.DateTimeField(null=True)),
                ("held", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "ticket",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="pending_answers",
                        to="tickets.ticket",
                    ),
                ),
            ],
            options={
                "default_permissions": (),
            },
        ),
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
                            ("woken", "Woken"),
                            ("escalated", "Escalated"),
                            ("held", "Held"),
                        ],
                        max_length=10,
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
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("opened", "opened"),
                            ("moved", "moved"),
                            ("move_refused", "move refused"),
                            ("data_changed", "data changed"),
                            ("assigned", "assigned"),
                            ("unassigned", "unassigned"),
                            ("taken", "taken"),
                            ("reassigned", "reassigned"),
                            ("handed_over", "handed over"),
                            ("related", "related"),
                            ("unrelated", "unrelated"),
                            ("snoozed", "snoozed"),
                            ("woken", "woken"),
                            ("documents_requested", "documents requested"),
                            ("appealed", "appealed"),
                            ("appeal_decided", "appeal decided"),
                            ("file_added", "file added"),
                            ("amounts_changed", "amounts changed"),
                            ("reminded", "reminded"),
                            ("escalated", "escalated"),
                            ("evidence_taken", "evidence taken"),
                            ("claim_file_taken", "claim file taken"),
                        ],
                        max_length=30,
                    ),
                ),
                ("reason", models.TextField(blank=True)),
                ("data", models.JSONField(default=dict)),
                ("public", models.BooleanField(default=True)),
                ("request_id", models.CharField(max_length=128, null=True)),
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
            },
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
            name="Comment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("company_id", models.BigIntegerField(editable=False, null=True)),
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
            },
        ),
        migrations.CreateModel(
            name="CallerTicket",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
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
            options={
                "default_permissions": (),
            },
        ),
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
        ),
        migrations.CreateModel(
            name="Shift",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "weekday",
                    models.PositiveSmallIntegerField(
                        choices=[
                            (0, "Monday"),
                            (1, "Tuesday"),
                            (2, "Wednesday"),
                            (3, "Thursday"),
                            (4, "Friday"),
                            (5, "Saturday"),
                            (6, "Sunday"),
                        ],
                        verbose_name="weekday",
                    ),
                ),
                ("starts", models.TimeField(verbose_name="starts")),
                (
                    "ends",
                    models.TimeField(
                        help_text="00:00 means the end of the day.", verbose_name="ends"
                    ),
                ),
                (
                    "agent",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="shifts",
                        to="tickets.agent",
                        verbose_name="agent",
                    ),
                ),
            ],
            options={
                "verbose_name": "shift",
                "verbose_name_plural": "shifts",
                "ordering": ["weekday", "starts"],
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
                (
                    "by",
                    models.CharField(
                        choices=[("company", "company"), ("agent", "agent")],
                        db_default="company",
                        default="company",
                        max_length=10,
                    ),
                ),
                ("actor", models.CharField(blank=True, db_default="", default="", max_length=150)),
                ("public", models.BooleanField(db_default=True, default=True)),
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
        migrations.CreateModel(
            name="SLATarget",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "plan",
                    models.CharField(
                        blank=True,
                        help_text="A company's plan; leave empty for any.",
                        max_length=50,
                        verbose_name="plan",
                    ),
                ),
                (
                    "first_response_minutes",
                    models.PositiveIntegerField(verbose_name="first response minutes"),
                ),
                (
                    "resolution_minutes",
                    models.PositiveIntegerField(verbose_name="resolution minutes"),
                ),
                (
                    "calendar",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="targets",
                        to="tickets.calendar",
                        verbose_name="calendar",
                    ),
                ),
                (
                    "type",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="tickets.tickettype",
                        verbose_name="type",
                    ),
                ),
            ],
            options={
                "verbose_name": "SLA target",
                "verbose_name_plural": "SLA targets",
                "db_table": "tickets_target",
                "ordering": ["plan", "type"],
            },
        ),
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
                        help_text="As the company is asked for it, for example Invoice of the goods.",
                        max_length=200,
                        verbose_name="name",
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
            ],
            options={
                "verbose_name": "required document",
                "verbose_name_plural": "required documents",
                "ordering": ["type", core.data.reading_order.ReadingOrder("carrier_name"), "id"],
            },
        ),
        migrations.CreateModel(
            name="ReasonCode",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "code",
                    models.CharField(
                        help_text="For programs and reports, for example damage_confirmed. It never changes.",
                        max_length=40,
                        unique=True,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^[a-z][a-z0-9_]*\\Z",
                                "Start with a lower-case letter; then use lower-case letters, digits and _.",
                            )
                        ],
                        verbose_name="code",
                    ),
                ),
                (
                    "names",
                    models.JSONField(
                        default=dict, validators=[core.values.languages.check_languages]
                    ),
                ),
                ("for_accepted", models.BooleanField(default=False, verbose_name="for Accepted")),
                ("for_declined", models.BooleanField(default=False, verbose_name="for Declined")),
                (
                    "active",
                    models.BooleanField(
                        default=True,
                        help_text="Codes that are not active are not offered.",
                        verbose_name="active",
                    ),
                ),
                (
                    "position",
                    models.PositiveSmallIntegerField(
                        default=100,
                        help_text="Smaller numbers are offered first.",
                        verbose_name="position",
                    ),
                ),
                (
                    "types",
                    models.ManyToManyField(
                        blank=True,
                        help_text="None means all.",
                        to="tickets.tickettype",
                        verbose_name="ticket types",
                    ),
                ),
            ],
            options={
                "verbose_name": "reason code",
                "verbose_name_plural": "reason codes",
                "ordering": ["position", "code"],
            },
        ),
        migrations.CreateModel(
            name="FilingRule",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "carrier_name",
                    models.CharField(
                        blank=True,
                        help_text="Leave empty for any carrier.",
                        max_length=100,
                        verbose_name="carrier name",
                    ),
                ),
                (
                    "days",
                    models.PositiveIntegerField(
                        help_text="Days after the shipment was handed over, or delivered.",
                        verbose_name="days",
                    ),
                ),
                (
                    "counts_from_delivery",
                    models.BooleanField(default=False, verbose_name="counts from delivery"),
                ),
                (
                    "type",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="tickets.tickettype",
                        verbose_name="type",
                    ),
                ),
            ],
            options={
                "verbose_name": "filing rule",
                "verbose_name_plural": "filing rules",
                "ordering": [core.data.reading_order.ReadingOrder("carrier_name"), "type"],
            },
        ),
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
                (
                    "wait_days",
                    models.PositiveSmallIntegerField(
                        default=3,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(60),
                        ],
                    ),
                ),
                (
                    "times",
                    models.PositiveSmallIntegerField(
                        default=2,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(10),
                        ],
                    ),
                ),
                (
                    "last_days",
                    models.PositiveSmallIntegerField(
                        default=5,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(60),
                        ],
                    ),
                ),
                (
                    "hours_before",
                    models.PositiveSmallIntegerField(
                        default=2,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(60),
                        ],
                    ),
                ),
                ("reassigns", models.BooleanField(default=True)),
                (
                    "texts",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        validators=[core.values.languages.check_languages],
                    ),
                ),
                (
                    "last_texts",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        validators=[core.values.languages.check_languages],
                    ),
                ),
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
            },
        ),
        migrations.CreateModel(
            name="Watch",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
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
            },
        ),
        migrations.CreateModel(
            name="WorkingHours",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "weekday",
                    models.PositiveSmallIntegerField(
                        choices=[
                            (0, "Monday"),
                            (1, "Tuesday"),
                            (2, "Wednesday"),
                            (3, "Thursday"),
                            (4, "Friday"),
                            (5, "Saturday"),
                            (6, "Sunday"),
                        ],
                        verbose_name="weekday",
                    ),
                ),
                ("starts", models.TimeField(verbose_name="starts")),
                (
                    "ends",
                    models.TimeField(
                        help_text="00:00 means the end of the day.", verbose_name="ends"
                    ),
                ),
                (
                    "calendar",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="hours",
                        to="tickets.calendar",
                        verbose_name="calendar",
                    ),
                ),
            ],
            options={
                "verbose_name": "working hours",
                "verbose_name_plural": "working hours",
                "ordering": ["weekday", "starts"],
            },
        ),
        migrations.CreateModel(
            name="Absence",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("starts_at", models.DateTimeField(verbose_name="starts at")),
                ("ends_at", models.DateTimeField(verbose_name="ends at")),
                ("reason", models.CharField(blank=True, max_length=100, verbose_name="reason")),
                (
                    "agent",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="absences",
                        to="tickets.agent",
                        verbose_name="agent",
                    ),
                ),
            ],
            options={
                "verbose_name": "absence",
                "verbose_name_plural": "absences",
                "ordering": ["starts_at"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("ends_at__gt", models.F("starts_at"))),
                        name="absence_ends_later",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ApprovalLimit",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("currency", models.CharField(max_length=3, verbose_name="currency")),
                (
                    "amount",
                    models.DecimalField(
                        decimal_places=3,
                        max_digits=14,
                        validators=[django.core.validators.MinValueValidator(0)],
                        verbose_name="amount",
                    ),
                ),
                (
                    "agent",
                    models.ForeignKey(
                        blank=True,
                        help_text="Leave empty for all agents who are not leads and have no limit of their own.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="approval_limits",
                        to="tickets.agent",
                        verbose_name="agent",
                    ),
                ),
            ],
            options={
                "verbose_name": "approval limit",
                "verbose_name_plural": "approval limits",
                "ordering": ["agent", "currency"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("agent", "currency"),
                        name="one_approval_limit_per_agent_and_currency",
                        nulls_distinct=False,
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("amount__gte", 0), ("amount__lte", Decimal("10000000000"))
                        ),
                        name="approval_limit_in_range",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Holiday",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("day", models.DateField(verbose_name="day")),
                ("name", models.CharField(blank=True, max_length=100, verbose_name="name")),
                (
                    "calendar",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="holidays",
                        to="tickets.calendar",
                        verbose_name="calendar",
                    ),
                ),
            ],
            options={
                "verbose_name": "holiday",
                "verbose_name_plural": "holidays",
                "ordering": ["day"],
                "constraints": [
                    models.UniqueConstraint(fields=("calendar", "day"), name="one_holiday_per_day")
                ],
            },
        ),
        migrations.CreateModel(
            name="LoadChange",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("status", models.PositiveSmallIntegerField()),
                ("change", models.IntegerField()),
                (
                    "agent",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="tickets.agent",
                    ),
                ),
            ],
            options={
                "default_permissions": (),
                "indexes": [
                    models.Index(
                        fields=["agent"], include=("status", "change"), name="load_of_agent"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Mention",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
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
            name="SearchEntry",
            fields=[
                (
                    "ticket",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="tickets.ticket",
                    ),
                ),
                ("tracking", models.TextField(null=True)),
                ("terms", django.contrib.postgres.search.SearchVectorField()),
            ],
            options={
                "default_permissions": (),
                "indexes": [
                    models.Index(
                        condition=models.Q(("tracking", None)),
                        fields=["-ticket"],
                        name="search_untracked",
                    ),
                    django.contrib.postgres.indexes.GinIndex(
                        fastupdate=False, fields=["terms"], name="search_terms_of_ticket"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Snooze",
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
        migrations.AddConstraint(
            model_name="relatedtickets",
            constraint=models.UniqueConstraint(
                fields=("first", "second"), name="tickets_related_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="relatedtickets",
            constraint=models.CheckConstraint(
                condition=models.Q(("first__lt", models.F("second"))), name="related_in_order"
            ),
        ),
        migrations.AddConstraint(
            model_name="pendinganswer",
            constraint=models.UniqueConstraint(
                condition=models.Q(("due_at__isnull", False)),
                fields=("ticket",),
                name="one_answer_waits",
            ),
        ),
        migrations.AddIndex(
            model_name="notification",
            index=models.Index(fields=["recipient", "-created_at"], name="notification_newest"),
        ),
        migrations.AddIndex(
            model_name="notification",
            index=models.Index(fields=["created_at"], name="notification_created_at"),
        ),
        migrations.AddConstraint(
            model_name="notification",
            constraint=models.UniqueConstraint(
                condition=models.Q(("read_at", None)),
                fields=("recipient", "ticket", "kind"),
                name="one_unread_notification",
            ),
        ),
        migrations.AddConstraint(
            model_name="incidencelink",
            constraint=models.UniqueConstraint(
                fields=("ticket", "incidence"), name="one_link_per_ticket_and_incidence"
            ),
        ),
        migrations.AddIndex(
            model_name="historyentry",
            index=models.Index(fields=["ticket", "id"], name="history_of_ticket"),
        ),
        migrations.AddIndex(
            model_name="historyentry",
            index=models.Index(
                condition=models.Q(("data__has_key", "agent")),
                fields=["created_at"],
                name="history_assignments",
            ),
        ),
        migrations.AddIndex(
            model_name="comment",
            index=models.Index(fields=["ticket", "id"], name="comment_of_ticket"),
        ),
        migrations.AddIndex(
            model_name="appeal",
            index=models.Index(
                condition=models.Q(("state", "pending")), fields=["ticket"], name="appeal_pending"
            ),
        ),
        migrations.AddConstraint(
            model_name="appeal",
            constraint=models.UniqueConstraint(
                fields=("ticket", "declined_at"), name="one_appeal_per_decision"
            ),
        ),
        migrations.AddConstraint(
            model_name="shift",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("ends__gt", models.F("starts")), ("ends", datetime.time(0, 0)), _connector="OR"
                ),
                name="shift_ends_later",
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
        migrations.AddIndex(
            model_name="ticketfile",
            index=models.Index(
                condition=models.Q(
                    models.Q(("ticket__isnull", False)),
                    models.Q(("stored_as__startswith", "erased/"), _negated=True),
                    models.Q(("stored_as__startswith", "forgotten/"), _negated=True),
                ),
                fields=["id"],
                name="file_with_content",
            ),
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
            index=models.Index(
                fields=["company", "status", "-created_at", "-id"],
                include=("type",),
                name="ticket_company_by_status",
            ),
        ),
        migrations.AddIndex(
            model_name="ticket",
            index=models.Index(
                fields=["company", "type", "-created_at", "-id"],
                include=("status",),
                name="ticket_company_by_type",
            ),
        ),
        migrations.AddIndex(
            model_name="ticket",
            index=models.Index(
                condition=models.Q(("carrier_id__isnull", False)),
                fields=["company", "carrier_id", "-created_at", "-id"],
                include=("status",),
                name="ticket_company_by_carrier",
            ),
        ),
        migrations.AddIndex(
            model_name="ticket",
            index=models.Index(
                fields=["company", "updated_at", "id"],
                include=("status", "type"),
                name="ticket_company_changed",
            ),
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
                condition=models.Q(
                    ("agent", None), models.Q(("status__in", [2, 3]), _negated=True)
                ),
                fields=["status", "company_spoke_last", "id"],
                name="ticket_unassigned",
            ),
        ),
        migrations.AddIndex(
            model_name="ticket",
            index=models.Index(
                condition=models.Q(("status__in", [2, 3]), _negated=True),
                fields=["agent", "due_at", "id"],
                include=("status", "company_spoke_last"),
                name="ticket_agent_due",
            ),
        ),
        migrations.AddIndex(
            model_name="ticket",
            index=models.Index(
                condition=models.Q(("status__in", [2, 3]), _negated=True),
                fields=["id"],
                name="ticket_all_open",
            ),
        ),
        migrations.AddIndex(
            model_name="ticket",
            index=models.Index(
                condition=models.Q(("status__in", [2, 3]), _negated=True),
                fields=["status", "-id"],
                name="ticket_open_newest",
            ),
        ),
        migrations.AddIndex(
            model_name="ticket",
            index=models.Index(
                condition=models.Q(("status__in", [2, 3]), _negated=True),
                fields=["due_at", "id"],
                name="ticket_open_due",
            ),
        ),
        migrations.AddIndex(
            model_name="ticket",
            index=models.Index(
                condition=models.Q(("status__in", [2, 3]), _negated=True),
                fields=["filing_due_at", "id"],
                name="ticket_open_filing",
            ),
        ),
        migrations.AddIndex(
            model_name="ticket",
            index=models.Index(
                models.OrderBy(models.F("amount_claimed"), descending=True, nulls_last=True),
                models.F("filing_due_at"),
                models.F("id"),
                condition=models.Q(
                    models.Q(("status__in", [2, 3]), _negated=True),
                    ("filing_due_at__isnull", False),
                ),
                name="ticket_claims_to_file",
            ),
        ),
        migrations.AddIndex(
            model_name="ticket",
            index=models.Index(
                condition=models.Q(("status__in", [2, 3]), _negated=True),
                fields=["status", "type", "updated_at", "id"],
                name="ticket_silent",
            ),
        ),
        migrations.AddIndex(
            model_name="ticket",
            index=models.Index(
                condition=models.Q(
                    models.Q(("status__in", [2, 3]), _negated=True),
                    ("escalated_due_at__isnull", False),
                ),
                fields=["due_at", "id"],
                name="ticket_escalated",
            ),
        ),
        migrations.AddIndex(
            model_name="ticket",
            index=models.Index(fields=["agent", "-created_at", "-id"], name="ticket_agent_newest"),
        ),
        migrations.AddIndex(
            model_name="ticket",
            index=models.Index(
                condition=models.Q(("decided_by__isnull", False)),
                fields=["decided_by", "-created_at", "-id"],
                name="ticket_decided_by_newest",
            ),
        ),
        migrations.AddIndex(
            model_name="ticket",
            index=models.Index(fields=["type", "-created_at", "-id"], name="ticket_type_newest"),
        ),
        migrations.AddIndex(
            model_name="ticket",
            index=models.Index(
                fields=["carrier_name", "-created_at", "-id"], name="ticket_carrier_newest"
            ),
        ),
        migrations.AddIndex(
            model_name="ticket",
            index=models.Index(
                condition=models.Q(("amount_claimed__isnull", False)),
                fields=["currency", "amount_claimed"],
                name="ticket_amount_claimed",
            ),
        ),
        migrations.AddIndex(
            model_name="ticket",
            index=models.Index(
                fields=["created_at"],
                include=("carrier_name", "type", "agent", "first_responded_at"),
                name="ticket_opened_at",
            ),
        ),
        migrations.AddIndex(
            model_name="ticket",
            index=models.Index(
                condition=models.Q(("decided_at__isnull", False)),
                fields=["decided_at"],
                include=(
                    "carrier_name",
                    "type",
                    "decided_by",
                    "created_at",
                    "status",
                    "resolution_due_at",
                ),
                name="ticket_decided_figures",
            ),
        ),
        migrations.AddIndex(
            model_name="ticket",
            index=models.Index(
                condition=models.Q(("status__in", [2, 3]), _negated=True),
                fields=["created_at"],
                include=("carrier_name", "type", "agent", "due_at", "filing_due_at", "status"),
                name="ticket_open_figures",
            ),
        ),
        migrations.AddConstraint(
            model_name="slatarget",
            constraint=models.UniqueConstraint(
                fields=("plan", "type"), name="one_target_per_plan_and_type", nulls_distinct=False
            ),
        ),
        migrations.AddConstraint(
            model_name="requireddocument",
            constraint=models.UniqueConstraint(
                fields=("type", "carrier_name", "name"),
                name="one_required_document_per_name",
                nulls_distinct=False,
            ),
        ),
        migrations.AddConstraint(
            model_name="filingrule",
            constraint=models.UniqueConstraint(
                fields=("carrier_name", "type"), name="one_filing_rule_per_carrier_and_type"
            ),
        ),
        migrations.AddConstraint(
            model_name="filingrule",
            constraint=models.CheckConstraint(
                condition=models.Q(("days__gt", 0)), name="filing_takes_a_day_at_least"
            ),
        ),
        migrations.AddConstraint(
            model_name="automation",
            constraint=models.UniqueConstraint(
                fields=("kind", "type"), name="one_automation_per_kind_and_type"
            ),
        ),
        migrations.AddConstraint(
            model_name="watch",
            constraint=models.UniqueConstraint(
                fields=("agent", "ticket"), name="one_watch_per_agent"
            ),
        ),
        migrations.AddIndex(
            model_name="snooze",
            index=models.Index(fields=["agent", "until"], name="snooze_of_agent"),
        ),
    ]
