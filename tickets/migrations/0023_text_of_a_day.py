import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("companies", "0007_search_words"),
        ("tickets", "0022_files_with_content"),
    ]

    operations = [
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
    ]
