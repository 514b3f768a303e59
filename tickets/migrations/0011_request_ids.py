"""Which request caused an entry of history. Null where an earlier version wrote it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tickets", "0007_phone_keys")]

    operations = [
        migrations.AddField(
            "historyentry", "request_id", models.CharField(max_length=128, null=True)
        ),
    ]
