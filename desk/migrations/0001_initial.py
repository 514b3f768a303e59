"""What agents and leads keep at the desk."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import core.data.reading_order
import tickets.local_time

# Django's log of the admin in the order of time: all of it, of a user, of a kind, of an object.
LOG_INDEXES = """
CREATE INDEX desk_log_by_time ON django_admin_log (action_time);
CREATE INDEX desk_log_by_user ON django_admin_log (user_id, action_time);
CREATE INDEX desk_log_by_act ON django_admin_log (action_flag, action_time);
CREATE INDEX desk_log_by_object ON django_admin_log (content_type_id, object_id, action_time);
"""


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("admin", "0003_logentry_add_action_flag_choices"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("tickets", "0002_functions"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Invitation",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="invitation",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("invited_by", models.CharField(blank=True, max_length=150)),
                ("sent_at", models.DateTimeField()),
                ("accepted_at", models.DateTimeField(null=True)),
                ("revoked_at", models.DateTimeField(null=True)),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="Preferences",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="preferences",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "language",
                    models.CharField(
                        blank=True, choices=[("en", "English"), ("es", "Spanish")], max_length=5
                    ),
                ),
                (
                    "time_zone",
                    models.CharField(
                        blank=True, max_length=50, validators=[tickets.local_time.check_zone]
                    ),
                ),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="ResetRequest",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=32)),
                ("address", models.GenericIPAddressField(null=True)),
                ("asked_at", models.DateTimeField(db_index=True)),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="SettledStep",
            fields=[
                ("slug", models.CharField(max_length=20, primary_key=True, serialize=False)),
                ("settled_by", models.CharField(max_length=150)),
                ("settled_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="Macro",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=80, unique=True, verbose_name="name")),
                (
                    "text",
                    models.TextField(
                        help_text="{ticket}, {company}, {tracking} and {agent} are replaced.",
                        verbose_name="text",
                    ),
                ),
                (
                    "public",
                    models.BooleanField(
                        default=True,
                        help_text="Sent to the company as a reply; otherwise an internal note.",
                        verbose_name="public",
                    ),
                ),
                (
                    "move_to",
                    models.PositiveSmallIntegerField(
                        blank=True,
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
                        verbose_name="move to",
                    ),
                ),
                (
                    "requested",
                    models.TextField(
                        blank=True,
                        help_text="Documents to request, one per line.",
                        verbose_name="requested",
                    ),
                ),
                (
                    "language",
                    models.CharField(
                        blank=True,
                        choices=[("en", "English"), ("es", "Spanish")],
                        db_default="",
                        help_text="A reply in it is offered only for companies of this language.",
                        max_length=5,
                        verbose_name="language",
                    ),
                ),
                ("active", models.BooleanField(default=True, verbose_name="active")),
                (
                    "reason_code",
                    models.ForeignKey(
                        blank=True,
                        help_text="Of a decision. Without one the agent chooses.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="tickets.reasoncode",
                        verbose_name="reason code",
                    ),
                ),
                (
                    "types",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Ticket types that offer this macro; none means all.",
                        to="tickets.tickettype",
                        verbose_name="types",
                    ),
                ),
            ],
            options={
                "verbose_name": "macro",
                "verbose_name_plural": "macros",
                "ordering": [core.data.reading_order.ReadingOrder("name")],
            },
        ),
        migrations.CreateModel(
            name="SeenSession",
            fields=[
                ("digest", models.CharField(max_length=32, primary_key=True, serialize=False)),
                ("browser", models.CharField(max_length=30)),
                ("system", models.CharField(max_length=30)),
                ("address", models.GenericIPAddressField(null=True)),
                ("began_at", models.DateTimeField(null=True)),
                ("seen_at", models.DateTimeField(db_index=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="SignOn",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="sign_on",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("issuer", models.CharField(max_length=255)),
                ("subject", models.CharField(max_length=255)),
                ("bound_at", models.DateTimeField(auto_now_add=True)),
                ("last_at", models.DateTimeField(null=True)),
            ],
            options={
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(fields=("issuer", "subject"), name="sign_on_subject")
                ],
            },
        ),
        migrations.CreateModel(
            name="Storm",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("carrier_name", models.CharField(max_length=100, verbose_name="carrier name")),
                ("hour", models.DateTimeField(verbose_name="hour")),
                (
                    "found",
                    models.PositiveIntegerField(
                        help_text="Tickets opened in that hour.", verbose_name="found"
                    ),
                ),
                (
                    "usual",
                    models.FloatField(
                        help_text="Tickets usually opened in that hour.", verbose_name="usual"
                    ),
                ),
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
                        verbose_name="state",
                    ),
                ),
                ("title", models.CharField(blank=True, max_length=200, verbose_name="title")),
                (
                    "decided_by",
                    models.CharField(
                        blank=True, editable=False, max_length=150, verbose_name="decided by"
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="created at")),
                (
                    "closed_at",
                    models.DateTimeField(editable=False, null=True, verbose_name="closed at"),
                ),
                (
                    "tickets",
                    models.ManyToManyField(
                        blank=True,
                        related_name="storms",
                        to="tickets.ticket",
                        verbose_name="tickets",
                    ),
                ),
            ],
            options={
                "verbose_name": "storm",
                "verbose_name_plural": "storms",
                "permissions": [
                    ("answer_storm", "Can open, answer and close a storm"),
                    ("view_figures", "Can see the figures of all agents"),
                ],
            },
        ),
        migrations.CreateModel(
            name="StormReply",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
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
                    "failed",
                    models.JSONField(db_default=models.Value({}, models.JSONField()), default=dict),
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
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="replies",
                        to="desk.storm",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "storm replies",
                "ordering": ["-pk"],
            },
        ),
        migrations.CreateModel(
            name="Visit",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("seen_at", models.DateTimeField()),
                ("alive_at", models.DateTimeField()),
                ("writing", models.BooleanField(default=False)),
                ("last_form", models.UUIDField(editable=False, null=True)),
                (
                    "ticket",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="visits",
                        to="tickets.ticket",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="SavedView",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=60)),
                ("query", models.CharField(max_length=500)),
                ("shared", models.BooleanField(db_default=False, default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": [core.data.reading_order.ReadingOrder("name")],
                "permissions": [("share_view", "Can share saved views")],
                "indexes": [
                    models.Index(
                        condition=models.Q(("shared", True)),
                        fields=["name"],
                        name="saved_view_shared",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("owner", "name"), name="one_view_of_a_name_per_person"
                    )
                ],
            },
        ),
        migrations.AddConstraint(
            model_name="storm",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state__in", ["proposed", "open"])),
                fields=("carrier_name",),
                name="one_storm_per_carrier_at_a_time",
            ),
        ),
        migrations.AddIndex(
            model_name="stormreply",
            index=models.Index(
                condition=models.Q(("finished_at", None)),
                fields=["id"],
                name="storm_reply_unfinished",
            ),
        ),
        migrations.AddConstraint(
            model_name="visit",
            constraint=models.UniqueConstraint(
                fields=("ticket", "user"), name="one_visit_per_person"
            ),
        ),
        migrations.RunSQL(LOG_INDEXES, migrations.RunSQL.noop),
    ]
