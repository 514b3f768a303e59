"""A hold may end by itself, and may have a reason that companies read."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("deliveries", "0017_holding")]

    operations = [
        migrations.AlterModelOptions(
            name="heldhost",
            options={"permissions": [("stop_sending", "Can hold hosts, drain and resume")]},
        ),
        migrations.AddField(
            model_name="heldhost",
            name="held_until",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="heldhost",
            name="public_reason",
            field=models.CharField(blank=True, db_default="", max_length=200),
        ),
    ]
