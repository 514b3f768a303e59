"""Companies, their tokens, and what is kept of their requests: answers, erasures, the audit."""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
from django.db import migrations, models

import core.data.encryption
import core.values.zones


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Company",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=200, verbose_name="name")),
                (
                    "active",
                    models.BooleanField(
                        default=True,
                        help_text="An inactive company's tokens are refused, and its webhooks are paused.",
                        verbose_name="active",
                    ),
                ),
                (
                    "contact_email",
                    models.EmailField(
                        blank=True,
                        help_text="We email this address when a webhook is paused or a ticket needs an answer.",
                        max_length=254,
                        verbose_name="contact email",
                    ),
                ),
                (
                    "ticket_emails",
                    models.BooleanField(
                        db_default=True,
                        default=True,
                        help_text="Email it when one of its tickets is Incomplete or Declined, or an appeal is decided.",
                        verbose_name="emails about tickets",
                    ),
                ),
                (
                    "language",
                    models.CharField(
                        blank=True,
                        choices=[("en", "English"), ("es", "Spanish")],
                        db_default="",
                        help_text="What we write to it is in this language; if empty, in the deployment's.",
                        max_length=5,
                        verbose_name="language",
                    ),
                ),
                (
                    "time_zone",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="What we write to it has times of this zone.",
                        max_length=50,
                        validators=[core.values.zones.validate_zone],
                        verbose_name="time zone",
                    ),
                ),
                (
                    "plan",
                    models.CharField(
                        blank=True,
                        help_text="Selects the service level of its tickets.",
                        max_length=50,
                        verbose_name="plan",
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="created at")),
                ("erased_at", models.DateTimeField(editable=False, null=True)),
            ],
            options={"verbose_name": "company", "verbose_name_plural": "companies"},
        ),
        migrations.CreateModel(
            name="PlatformToken",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("prefix", models.CharField(editable=False, max_length=20, verbose_name="prefix")),
                ("digest", models.CharField(editable=False, max_length=64, unique=True)),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="created at")),
                (
                    "expires_at",
                    models.DateTimeField(blank=True, null=True, verbose_name="expires at"),
                ),
                (
                    "revoked_at",
                    models.DateTimeField(blank=True, null=True, verbose_name="revoked at"),
                ),
                (
                    "last_used_at",
                    models.DateTimeField(
                        blank=True, editable=False, null=True, verbose_name="last used at"
                    ),
                ),
                ("name", models.CharField(blank=True, max_length=100)),
            ],
            options={
                "verbose_name": "platform token",
            },
        ),
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "actor",
                    models.CharField(
                        help_text="A login at the desk, USER@HOST, or company for an API token.",
                        max_length=200,
                    ),
                ),
                (
                    "via",
                    models.CharField(
                        choices=[
                            ("command", "Command"),
                            ("desk", "Desk"),
                            ("task", "Task"),
                            ("api", "Api"),
                        ],
                        max_length=10,
                    ),
                ),
                ("act", models.CharField(max_length=50)),
                ("about", models.CharField(blank=True, max_length=300)),
                ("company_id", models.BigIntegerField(null=True)),
                ("details", models.JSONField(default=dict)),
                ("request_id", models.CharField(max_length=128, null=True)),
                ("outcome", models.CharField(max_length=300, null=True)),
                ("ended_at", models.DateTimeField(null=True)),
            ],
            options={
                "verbose_name": "audit entry",
                "verbose_name_plural": "audit",
                "default_permissions": ("view",),
                "indexes": [
                    models.Index(fields=["at"], name="audit_by_time"),
                    models.Index(fields=["company_id", "at"], name="audit_by_company"),
                    models.Index(fields=["actor", "at"], name="audit_by_actor"),
                    models.Index(fields=["act", "at"], name="audit_by_act"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("prefix", models.CharField(editable=False, max_length=20, verbose_name="prefix")),
                ("digest", models.CharField(editable=False, max_length=64, unique=True)),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="created at")),
                (
                    "expires_at",
                    models.DateTimeField(blank=True, null=True, verbose_name="expires at"),
                ),
                (
                    "revoked_at",
                    models.DateTimeField(blank=True, null=True, verbose_name="revoked at"),
                ),
                (
                    "last_used_at",
                    models.DateTimeField(
                        blank=True, editable=False, null=True, verbose_name="last used at"
                    ),
                ),
                (
                    "company",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tokens",
                        to="companies.company",
                        verbose_name="company",
                    ),
                ),
            ],
            options={"verbose_name": "API token", "verbose_name_plural": "API tokens"},
        ),
        migrations.CreateModel(
            name="Erasure",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("company_id", models.BigIntegerField(db_index=True)),
                ("begun_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(null=True)),
                ("part", models.CharField(blank=True, max_length=50)),
                ("after", models.JSONField(null=True)),
                ("counts", models.JSONField(default=dict)),
            ],
            options={
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("ended_at", None)),
                        fields=("company_id",),
                        name="one_erasure_at_a_time",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="KeptBundle",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=255, unique=True)),
                ("fingerprint", models.CharField(max_length=64)),
                ("busy_until", models.DateTimeField(null=True)),
                ("answer", models.TextField(blank=True)),
                ("created_at", models.DateTimeField()),
            ],
            options={
                "indexes": [models.Index(fields=["created_at"], name="kept_bundle_age")],
            },
        ),
        migrations.CreateModel(
            name="SearchName",
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
                ("words", models.TextField()),
                (
                    "nearly",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(), size=None
                    ),
                ),
            ],
            options={
                "default_permissions": (),
                "indexes": [
                    django.contrib.postgres.indexes.GinIndex(
                        fastupdate=False, fields=["nearly"], name="search_names_nearly"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="KeptAnswer",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=255)),
                ("fingerprint", models.CharField(max_length=64)),
                ("meaning", models.CharField(db_default="", default="", max_length=64)),
                ("status", models.PositiveSmallIntegerField()),
                ("headers", models.JSONField(default=dict)),
                ("body", models.JSONField()),
                ("secret_body", core.data.encryption.EncryptedTextField(null=True)),
                ("created_at", models.DateTimeField()),
                (
                    "company",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="companies.company",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["created_at"], name="kept_answer_age")],
                "constraints": [
                    models.UniqueConstraint(fields=("company", "key"), name="one_answer_per_key")
                ],
            },
        ),
    ]
