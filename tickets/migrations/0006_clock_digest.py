from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tickets", "0005_shifts_and_giving_tickets")]

    operations = [
        migrations.AddField(
            model_name="ticket",
            name="clock_digest",
            field=models.BigIntegerField(default=0, editable=False),
        ),
    ]
