"""Emails whose text holds a link that opens something."""

from django.db import migrations

from companies.encryption import EncryptedTextField


class Migration(migrations.Migration):
    dependencies = [("deliveries", "0023_quarantine")]

    operations = [
        migrations.AddField(
            model_name="mail",
            name="secret_text",
            field=EncryptedTextField(editable=False, null=True),
        ),
    ]
