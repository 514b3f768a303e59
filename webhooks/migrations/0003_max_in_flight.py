from django.db import migrations, models


class Migration(migrations.Migration):
    """A version that does not know the column leaves it null: no bound."""

    dependencies = [("webhooks", "0002_event_types_are_no_choices")]

    operations = [
        migrations.AddField(
            model_name="webhook",
            name="max_in_flight",
            field=models.PositiveSmallIntegerField(
                blank=True,
                help_text="Never more requests at once; empty: as the engine finds.",
                null=True,
            ),
        ),
    ]
