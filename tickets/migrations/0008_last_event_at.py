"""The time of a ticket's last event. A version that does not know it leaves it null."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tickets", "0007_phone_keys")]

    operations = [
        migrations.AddField(
            "ticket", "last_event_at", models.DateTimeField(editable=False, null=True)
        ),
    ]
