"""What the desk keeps for itself: macros, visits, storms and their replies."""

from django.conf import settings
from django.db import migrations, models

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


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("desk", "0002_visit_last_form"),
        ("desk", "0003_storm_replies"),
    ]

    dependencies = [
        ("tickets", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Macro",
            fields=[
                ID,
                ("name", models.CharField(max_length=80, unique=True)),
                (
                    "text",
                    models.TextField(
                        help_text="{ticket}, {company}, {tracking} and {agent} are replaced."
                    ),
                ),
                (
                    "public",
                    models.BooleanField(
                        default=True,
                        help_text="Sent to the company as a reply; otherwise an internal note.",
                    ),
                ),
                (
                    "move_to",
                    models.PositiveSmallIntegerField(blank=True, choices=STATUSES, null=True),
                ),
                (
                    "requested",
                    models.TextField(blank=True, help_text="Documents to request, one per line."),
                ),
                ("active", models.BooleanField(default=True)),
                (
                    "types",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Ticket types that offer this macro; none means all.",
                        to="tickets.tickettype",
                    ),
                ),
            ],
            options={"ordering": ["name"]},
        ),
        migrations.CreateModel(
            name="Visit",
            fields=[
                ID,
                ("seen_at", models.DateTimeField()),
                ("alive_at", models.DateTimeField()),
                ("writing", models.BooleanField(default=False)),
                (
                    "ticket",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=models.CASCADE,
                        related_name="visits",
                        to="tickets.ticket",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=models.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("last_form", models.UUIDField(editable=False, null=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("ticket", "user"), name="one_visit_per_person")
                ]
            },
        ),
        migrations.CreateModel(
            name="Storm",
            fields=[
                ID,
                ("carrier_name", models.CharField(max_length=100)),
                ("hour", models.DateTimeField()),
                ("found", models.PositiveIntegerField(help_text="Tickets opened in that hour.")),
                ("usual", models.FloatField(help_text="Tickets usually opened in that hour.")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("proposed", "Proposed"),
                            ("open", "Open"),
                            ("dismissed", "Dismissed"),
                            ("closed", "Closed"),
                        ],
                        default="proposed",
                        max_length=10,
                    ),
                ),
                ("title", models.CharField(blank=True, max_length=200)),
                ("decided_by", models.CharField(blank=True, editable=False, max_length=150)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("closed_at", models.DateTimeField(editable=False, null=True)),
                (
                    "tickets",
                    models.ManyToManyField(blank=True, related_name="storms", to="tickets.ticket"),
                ),
            ],
            options={
                "permissions": [
                    ("answer_storm", "Can open, answer and close a storm"),
                    ("view_figures", "Can see the figures of all agents"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(state__in=["proposed", "open"]),
                        fields=("carrier_name",),
                        name="one_storm_per_carrier_at_a_time",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="StormReply",
            fields=[
                ID,
                ("key", models.UUIDField(unique=True)),
                ("text", models.TextField()),
                ("upto", models.BigIntegerField()),
                ("at", models.BigIntegerField(default=0)),
                ("answered", models.PositiveIntegerField(default=0)),
                (
                    "closed",
                    models.PositiveIntegerField(
                        default=0, help_text="Decided before the reply reached them."
                    ),
                ),
                (
                    "stopped",
                    models.CharField(
                        blank=True, help_text="Why the reply stopped early.", max_length=200
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "storm",
                    models.ForeignKey(
                        on_delete=models.CASCADE, related_name="replies", to="desk.storm"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "storm replies",
                "ordering": ["-pk"],
                "indexes": [
                    models.Index(
                        condition=models.Q(finished_at=None),
                        fields=["id"],
                        name="storm_reply_unfinished",
                    )
                ],
            },
        ),
    ]
