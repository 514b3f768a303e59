"""The keys of phones, encrypted.

Those that the version before has made stay where they are, as it goes on checking codes with them:
`manage.py reencrypt` moves them once it has stopped.
"""

import django.db.models.deletion
from django.db import migrations, models

from companies.encryption import EncryptedTextField


class Migration(migrations.Migration):
    dependencies = [
        ("tickets", "0006_history_not_truncated"),
        ("otp_totp", "0003_add_timestamps"),
    ]

    operations = [
        migrations.CreateModel(
            name="Phone",
            fields=[],
            options={
                "proxy": True,
                "default_permissions": (),
                "indexes": [],
                "constraints": [],
            },
            bases=("otp_totp.totpdevice",),
        ),
        migrations.CreateModel(
            name="PhoneKey",
            fields=[
                (
                    "device",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="phone_key",
                        serialize=False,
                        to="otp_totp.totpdevice",
                    ),
                ),
                ("key", EncryptedTextField(editable=False)),
            ],
            options={"default_permissions": ()},
        ),
    ]
