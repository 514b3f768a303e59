"""Entries of the audit may be of companies, by API. Nothing changes in the database."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("companies", "0013_restores")]

    operations = [
        migrations.AlterField(
            "auditentry",
            "actor",
            models.CharField(
                help_text="A login at the desk, USER@HOST, or company for an API token.",
                max_length=200,
            ),
        ),
        migrations.AlterField(
            "auditentry",
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
    ]
