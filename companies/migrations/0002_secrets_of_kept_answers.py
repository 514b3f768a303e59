"""Answers kept for Idempotency-Key hold no secret in clear (decision N16).

Those that the version before has kept are sealed by `manage.py reencrypt`, once it has stopped.
"""

from django.db import migrations

from companies.encryption import EncryptedTextField


class Migration(migrations.Migration):
    dependencies = [
        ("companies", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="keptanswer",
            name="secret_body",
            field=EncryptedTextField(null=True),
        ),
    ]
