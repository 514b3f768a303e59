from django.db import migrations, models


class Migration(migrations.Migration):
    """The registry says which types there are. The database does not change."""

    dependencies = [("webhooks", "0001_initial")]

    operations = [
        migrations.AlterField(
            model_name="webhook",
            name="type_id",
            field=models.PositiveSmallIntegerField(verbose_name="type"),
        ),
    ]
