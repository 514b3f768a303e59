"""How many slots a loop uses: for monitoring, with its heartbeat."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("deliveries", "0013_loops_take_lanes")]

    operations = [
        migrations.AddField(
            "loop",
            "busy",
            models.PositiveSmallIntegerField(db_default=0, help_text="Slots in use."),
        ),
    ]
