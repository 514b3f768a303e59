"""Tickets and their history, agents and shifts, service levels; and the rows to begin with."""

from datetime import time

from django.apps.registry import Apps
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from tickets.local_time import check_zone

ID = (
    "id",
    models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
)

STATUSES = [
    (1, "Pending"),
    (2, "Accepted"),
    (3, "Declined"),
    (4, "Incomplete"),
    (5, "Follow up"),
    (6, "In review"),
    (10, "Claim in review"),
]
# The statuses of an open ticket, and those in which its clock runs.
OPEN = [1, 4, 5, 6, 10]
RUNNING = [1, 5, 6, 10]
WEEKDAYS = [
    (0, "Monday"),
    (1, "Tuesday"),
    (2, "Wednesday"),
    (3, "Thursday"),
    (4, "Friday"),
    (5, "Saturday"),
    (6, "Sunday"),
]

# The database itself refuses to change or delete a ticket's history (decision T17).
APPEND_ONLY = """
CREATE FUNCTION tickets_history_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the history of a ticket is append-only' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON tickets_historyentry
  FOR EACH ROW EXECUTE FUNCTION tickets_history_is_append_only();
"""
NOT_APPEND_ONLY = """
DROP TRIGGER append_only ON tickets_historyentry;
DROP FUNCTION tickets_history_is_append_only();
"""

# The desk searches the words of tickets and comments block by block. tickets_words() is the words
# of a text and the block of its row: 16,384 ids, one after the other. The desk asks for a word in
# the newest block first and stops when it has enough: a word of half a million tickets then costs
# no more than one that none has. No text has a word with a space in it, as the names of the blocks
# have. The indexes keep no list of what is pending, which every search would have to read through.
WORDS = """
CREATE FUNCTION tickets_words(body text, id bigint) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT to_tsvector('simple', body) || array_to_tsvector(ARRAY['block ' || (id >> 14)::text])
$$;
CREATE INDEX ticket_words ON tickets_ticket USING gin (tickets_words(comments, id))
  WITH (fastupdate = off);
CREATE INDEX comment_words ON tickets_comment USING gin (tickets_words(text, id))
  WITH (fastupdate = off);
"""
NO_WORDS = """
DROP INDEX ticket_words;
DROP INDEX comment_words;
DROP FUNCTION tickets_words(text, bigint);
"""

# Decision T14: id, name, description, what a ticket of the type is about, whether it must say so.
# Operators may add their own.
TYPES = [
    (2, "carrier", "Activation of a carrier", "", False),
    (3, "overweight", "A shipment was charged for more weight than it has", "guide", True),
    (4, "lost", "A shipment is lost", "guide", True),
    (5, "damaged", "A shipment arrived damaged", "guide", True),
    (6, "wrong_address", "A shipment went to a wrong address", "guide", True),
    (7, "refund", "A credit should be refunded", "credit", True),
    (8, "delay", "A shipment is late", "guide", True),
    (9, "payment_pending", "A payment is pending", "", False),
    (10, "pobox_package", "A package at the PO box", "warehouse-package", False),
    (13, "theft", "A shipment was stolen", "guide", True),
    (14, "redirection", "A shipment should go to another address", "guide", True),
    (19, "credit_line", "Application for a credit line", "legal-credit", True),
    (24, "partial_refund", "A credit should be refunded in part", "credit", True),
    (25, "delivery_attempt", "A delivery attempt is disputed", "guide", True),
]


def add_types(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    TicketType = apps.get_model("tickets", "TicketType")
    TicketType.objects.bulk_create(
        TicketType(
            id=id, name=name, description=text, reference=reference, reference_required=required
        )
        for id, name, text, reference, required in TYPES
    )


def add_working_week(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Monday to Friday from 9 to 18: an answer within eight hours, a decision within forty.

    Leads change the calendar and its target, and add others.
    """
    calendar = apps.get_model("tickets", "Calendar").objects.create(name="Working week")
    for weekday in range(5):
        calendar.hours.create(weekday=weekday, starts=time(9), ends=time(18))
    apps.get_model("tickets", "Target").objects.create(
        calendar=calendar, first_response_minutes=8 * 60, resolution_minutes=40 * 60
    )


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("tickets", "0002_ticket_types"),
        ("tickets", "0003_history_is_append_only"),
        ("tickets", "0004_clocks_and_shifts"),
        ("tickets", "0005_shifts_and_giving_tickets"),
        ("tickets", "0006_clock_digest"),
        ("tickets", "0007_working_week"),
        ("tickets", "0008_what_happened_before_the_clocks"),
        ("tickets", "0009_the_desk_s_lists"),
        ("tickets", "0010_words"),
        ("tickets", "0011_figures"),
        ("tickets", "0012_exporting_tickets"),
    ]

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
            options={"ordering": ["id"]},
        ),
        migrations.CreateModel(
            name="Agent",
            fields=[
                ID,
                (
                    "capacity",
                    models.PositiveIntegerField(default=50, help_text="Active tickets at a time."),
                ),
                ("available", models.BooleanField(default=True)),
                ("last_assigned_at", models.DateTimeField(editable=False, null=True)),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=models.CASCADE, related_name="agent", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "skills",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Ticket types the agent takes; none means all.",
                        to="tickets.tickettype",
                    ),
                ),
                (
                    "time_zone",
                    models.CharField(
                        default="UTC",
                        help_text="Time zone of the shifts, for example Europe/Madrid.",
                        max_length=50,
                        validators=[check_zone],
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Shift",
            fields=[
                ID,
                ("weekday", models.PositiveSmallIntegerField(choices=WEEKDAYS)),
                ("starts", models.TimeField()),
                ("ends", models.TimeField(help_text="00:00 means the end of the day.")),
                (
                    "agent",
                    models.ForeignKey(
                        on_delete=models.CASCADE, related_name="shifts", to="tickets.agent"
                    ),
                ),
            ],
            options={
                "ordering": ["weekday", "starts"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(ends__gt=models.F("starts")) | models.Q(ends=time(0)),
                        name="shift_ends_later",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Absence",
            fields=[
                ID,
                ("starts_at", models.DateTimeField()),
                ("ends_at", models.DateTimeField()),
                ("reason", models.CharField(blank=True, max_length=100)),
                (
                    "agent",
                    models.ForeignKey(
                        on_delete=models.CASCADE, related_name="absences", to="tickets.agent"
                    ),
                ),
            ],
            options={
                "ordering": ["starts_at"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(ends_at__gt=models.F("starts_at")),
                        name="absence_ends_later",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Calendar",
            fields=[
                ID,
                ("name", models.CharField(max_length=50, unique=True)),
                (
                    "time_zone",
                    models.CharField(
                        default="UTC", help_text="For example Europe/Madrid.", max_length=50
                    ),
                ),
            ],
            options={"ordering": ["name"]},
        ),
        migrations.CreateModel(
            name="WorkingHours",
            fields=[
                ID,
                ("weekday", models.PositiveSmallIntegerField(choices=WEEKDAYS)),
                ("starts", models.TimeField()),
                ("ends", models.TimeField(help_text="00:00 means the end of the day.")),
                (
                    "calendar",
                    models.ForeignKey(
                        on_delete=models.CASCADE, related_name="hours", to="tickets.calendar"
                    ),
                ),
            ],
            options={"verbose_name_plural": "working hours", "ordering": ["weekday", "starts"]},
        ),
        migrations.CreateModel(
            name="Holiday",
            fields=[
                ID,
                ("day", models.DateField()),
                ("name", models.CharField(blank=True, max_length=100)),
                (
                    "calendar",
                    models.ForeignKey(
                        on_delete=models.CASCADE, related_name="holidays", to="tickets.calendar"
                    ),
                ),
            ],
            options={
                "ordering": ["day"],
                "constraints": [
                    models.UniqueConstraint(fields=("calendar", "day"), name="one_holiday_per_day")
                ],
            },
        ),
        migrations.CreateModel(
            name="Target",
            fields=[
                ID,
                (
                    "plan",
                    models.CharField(
                        blank=True,
                        help_text="A company's plan; leave empty for any.",
                        max_length=50,
                    ),
                ),
                ("first_response_minutes", models.PositiveIntegerField()),
                ("resolution_minutes", models.PositiveIntegerField()),
                (
                    "calendar",
                    models.ForeignKey(
                        on_delete=models.PROTECT, related_name="targets", to="tickets.calendar"
                    ),
                ),
                (
                    "type",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=models.CASCADE,
                        related_name="+",
                        to="tickets.tickettype",
                    ),
                ),
            ],
            options={
                "ordering": ["plan", "type"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("plan", "type"),
                        name="one_target_per_plan_and_type",
                        nulls_distinct=False,
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="FilingRule",
            fields=[
                ID,
                (
                    "carrier_name",
                    models.CharField(
                        blank=True, help_text="Leave empty for any carrier.", max_length=100
                    ),
                ),
                (
                    "days",
                    models.PositiveIntegerField(
                        help_text="Days after the shipment was handed over, or delivered."
                    ),
                ),
                ("counts_from_delivery", models.BooleanField(default=False)),
                (
                    "type",
                    models.ForeignKey(
                        on_delete=models.CASCADE, related_name="+", to="tickets.tickettype"
                    ),
                ),
            ],
            options={
                "ordering": ["carrier_name", "type"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("carrier_name", "type"), name="one_filing_rule_per_carrier_and_type"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(days__gt=0), name="filing_takes_a_day_at_least"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Ticket",
            fields=[
                ID,
                ("status", models.PositiveSmallIntegerField(choices=STATUSES, default=1)),
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
                        db_index=False,
                        null=True,
                        on_delete=models.PROTECT,
                        related_name="tickets",
                        to="tickets.agent",
                    ),
                ),
                (
                    "company",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=models.PROTECT,
                        related_name="tickets",
                        to="companies.company",
                    ),
                ),
                (
                    "type",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=models.PROTECT,
                        related_name="+",
                        to="tickets.tickettype",
                    ),
                ),
                ("carrier_name", models.CharField(blank=True, editable=False, max_length=100)),
                ("decided_at", models.DateTimeField(editable=False, null=True)),
                ("due_at", models.DateTimeField(editable=False, null=True)),
                ("filing_due_at", models.DateTimeField(editable=False, null=True)),
                ("first_responded_at", models.DateTimeField(editable=False, null=True)),
                ("first_response_due_at", models.DateTimeField(editable=False, null=True)),
                ("resolution_due_at", models.DateTimeField(editable=False, null=True)),
                ("clock_digest", models.BigIntegerField(default=0, editable=False)),
            ],
            options={
                "permissions": [
                    ("reopen_ticket", "Can reopen a decided ticket"),
                    ("assign_ticket", "Can assign tickets to other agents"),
                    ("export_ticket", "Can export lists of tickets"),
                ],
                "indexes": [
                    models.Index(
                        fields=["company", "-created_at", "-id"],
                        include=("status", "type"),
                        name="ticket_company_newest",
                    ),
                    models.Index(fields=["company", "status"], name="ticket_company_status"),
                    models.Index(
                        condition=models.Q(shipment_id__isnull=False),
                        fields=["shipment_id", "company", "type"],
                        name="ticket_shipment",
                    ),
                    models.Index(
                        condition=models.Q(agent=None, status__in=RUNNING),
                        fields=["id"],
                        name="ticket_unassigned",
                    ),
                    models.Index(
                        condition=models.Q(status__in=OPEN),
                        fields=["status", "-id"],
                        name="ticket_open_newest",
                    ),
                    models.Index(
                        condition=models.Q(status__in=OPEN),
                        fields=["agent", "due_at", "id"],
                        include=("status",),
                        name="ticket_agent_due",
                    ),
                    models.Index(
                        condition=models.Q(status__in=OPEN),
                        fields=["id"],
                        name="ticket_all_open",
                    ),
                    models.Index(
                        condition=models.Q(status__in=OPEN),
                        fields=["due_at", "id"],
                        name="ticket_open_due",
                    ),
                    models.Index(
                        condition=models.Q(status__in=OPEN),
                        fields=["filing_due_at", "id"],
                        name="ticket_open_filing",
                    ),
                    models.Index(
                        fields=["agent", "-created_at", "-id"], name="ticket_agent_newest"
                    ),
                    models.Index(fields=["type", "-created_at", "-id"], name="ticket_type_newest"),
                    models.Index(
                        fields=["carrier_name", "-created_at", "-id"], name="ticket_carrier_newest"
                    ),
                    models.Index(
                        fields=["created_at"],
                        include=("carrier_name", "type", "agent", "first_responded_at"),
                        name="ticket_opened_at",
                    ),
                    models.Index(
                        condition=models.Q(decided_at__isnull=False),
                        fields=["decided_at"],
                        include=(
                            "carrier_name",
                            "type",
                            "agent",
                            "created_at",
                            "status",
                            "resolution_due_at",
                        ),
                        name="ticket_decided_at",
                    ),
                    models.Index(
                        condition=models.Q(status__in=OPEN),
                        fields=["created_at"],
                        include=(
                            "carrier_name",
                            "type",
                            "agent",
                            "due_at",
                            "filing_due_at",
                            "status",
                        ),
                        name="ticket_open_figures",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Document",
            fields=[
                ID,
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
                        on_delete=models.CASCADE, related_name="documents", to="tickets.ticket"
                    ),
                ),
            ],
            options={"ordering": ["position"]},
        ),
        migrations.CreateModel(
            name="IncidenceLink",
            fields=[
                ID,
                ("created_at", models.DateTimeField()),
                (
                    "incidence",
                    models.ForeignKey(
                        on_delete=models.CASCADE,
                        related_name="ticket_links",
                        to="shipments.incidence",
                    ),
                ),
                (
                    "ticket",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=models.CASCADE,
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
                ]
            },
        ),
        migrations.CreateModel(
            name="HistoryEntry",
            fields=[
                ID,
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
                ("was", models.PositiveSmallIntegerField(choices=STATUSES, null=True)),
                ("now", models.PositiveSmallIntegerField(choices=STATUSES)),
                ("reason", models.TextField(blank=True)),
                ("changes", models.JSONField(default=dict)),
                ("public", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField()),
                (
                    "ticket",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=models.PROTECT,
                        related_name="history",
                        to="tickets.ticket",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "history",
                "ordering": ["id"],
                "indexes": [
                    models.Index(fields=["ticket", "id"], name="history_of_ticket"),
                    models.Index(
                        condition=models.Q(changes__has_key="agent"),
                        fields=["created_at"],
                        name="history_assignments",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Comment",
            fields=[
                ID,
                (
                    "by",
                    models.CharField(
                        choices=[("company", "company"), ("agent", "agent")], max_length=10
                    ),
                ),
                ("actor", models.CharField(blank=True, max_length=150)),
                ("public", models.BooleanField(default=True)),
                ("text", models.TextField()),
                ("status", models.PositiveSmallIntegerField(choices=STATUSES)),
                ("created_at", models.DateTimeField()),
                (
                    "ticket",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=models.CASCADE,
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
        migrations.CreateModel(
            name="Rating",
            fields=[
                ID,
                ("rating", models.PositiveSmallIntegerField()),
                ("comment", models.TextField(blank=True)),
                ("created_at", models.DateTimeField()),
                (
                    "ticket",
                    models.OneToOneField(
                        on_delete=models.CASCADE, related_name="rating", to="tickets.ticket"
                    ),
                ),
            ],
        ),
        migrations.RunSQL(APPEND_ONLY, NOT_APPEND_ONLY),
        migrations.RunSQL(WORDS, NO_WORDS),
        migrations.RunPython(add_types, migrations.RunPython.noop),
        migrations.RunPython(add_working_week, migrations.RunPython.noop),
    ]
