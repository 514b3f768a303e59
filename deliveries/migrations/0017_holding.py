"""What operators do to sending: hosts that are held, and a drain."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("deliveries", "0016_event_request")]

    operations = [
        migrations.CreateModel(
            name="HeldHost",
            fields=[
                ("host", models.CharField(max_length=255, primary_key=True, serialize=False)),
                ("held_at", models.DateTimeField(auto_now_add=True)),
                ("by", models.CharField(max_length=200)),
                ("reason", models.CharField(blank=True, max_length=200)),
            ],
        ),
        migrations.CreateModel(
            name="Drain",
            fields=[
                (
                    "id",
                    models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False),
                ),
                ("since", models.DateTimeField(auto_now_add=True)),
                ("by", models.CharField(max_length=200)),
                ("reason", models.CharField(blank=True, max_length=200)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("id", 1)), name="one_drain")
                ],
            },
        ),
    ]
