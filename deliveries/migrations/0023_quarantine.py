"""Which loop sends the deliveries that other loops were lost with."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("deliveries", "0022_replay")]

    operations = [
        migrations.CreateModel(
            name="Quarantine",
            fields=[
                (
                    "id",
                    models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False),
                ),
                ("loop_id", models.UUIDField()),
            ],
        ),
    ]
