from django.db import migrations, models


class Migration(migrations.Migration):
    """A version that does not know the columns signs as before, and its webhooks all have URLs."""

    dependencies = [("webhooks", "0003_max_in_flight")]

    operations = [
        migrations.AddField(
            model_name="webhook",
            name="standard_headers",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="Also sign as Standard Webhooks has it.",
            ),
        ),
        migrations.AddField(
            model_name="webhook",
            name="begins_after",
            field=models.BigIntegerField(db_default=0, default=0, editable=False),
        ),
        migrations.AlterField(
            model_name="webhook",
            name="url",
            field=models.CharField(
                blank=True, help_text="Empty: its events are fetched.", max_length=2048
            ),
        ),
    ]
