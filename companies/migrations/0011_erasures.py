"""Companies can be erased, and what was erased is known (companies.erasing)."""

from django.db import migrations, models

from companies.migration_steps import LockLast


class Migration(migrations.Migration):
    dependencies = [("companies", "0010_audit_by_whom")]

    operations = [
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
        LockLast(
            "companies_company",
            operations=[
                migrations.AddField(
                    "company", "erased_at", models.DateTimeField(editable=False, null=True)
                )
            ],
        ),
    ]
