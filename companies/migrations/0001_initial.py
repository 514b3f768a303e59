"""Companies, their API tokens, and the answers kept for repeated requests."""

from django.db import migrations, models

ID = (
    "id",
    models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
)


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("companies", "0002_plan"),
        ("companies", "0003_kept_headers"),
    ]

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Company",
            fields=[
                ID,
                ("name", models.CharField(max_length=200)),
                (
                    "active",
                    models.BooleanField(
                        default=True, help_text="Tokens of an inactive company are refused."
                    ),
                ),
                (
                    "contact_email",
                    models.EmailField(
                        blank=True,
                        help_text="We email this address when a webhook is paused.",
                        max_length=254,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "plan",
                    models.CharField(
                        blank=True,
                        help_text="Selects the service level of its tickets.",
                        max_length=50,
                    ),
                ),
            ],
            options={"verbose_name_plural": "companies"},
        ),
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                ID,
                ("prefix", models.CharField(editable=False, max_length=20)),
                ("digest", models.CharField(editable=False, max_length=64, unique=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                ("last_used_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "company",
                    models.ForeignKey(
                        on_delete=models.CASCADE, related_name="tokens", to="companies.company"
                    ),
                ),
            ],
            options={"verbose_name": "API token"},
        ),
        migrations.CreateModel(
            name="KeptAnswer",
            fields=[
                ID,
                ("key", models.CharField(max_length=255)),
                ("fingerprint", models.CharField(max_length=64)),
                ("status", models.PositiveSmallIntegerField()),
                ("body", models.JSONField()),
                ("created_at", models.DateTimeField()),
                (
                    "company",
                    models.ForeignKey(
                        on_delete=models.CASCADE, related_name="+", to="companies.company"
                    ),
                ),
                ("headers", models.JSONField(default=dict)),
            ],
            options={
                "indexes": [models.Index(fields=["created_at"], name="kept_answer_age")],
                "constraints": [
                    models.UniqueConstraint(fields=("company", "key"), name="one_answer_per_key")
                ],
            },
        ),
    ]
