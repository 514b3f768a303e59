"""Give companies a time zone (decision N32). Empty: the deployment's."""

from django.db import migrations, models

from companies.zones import validate_zone


class Migration(migrations.Migration):
    dependencies = [("companies", "0016_reading_order")]

    operations = [
        migrations.AddField(
            "company",
            "time_zone",
            models.CharField(
                blank=True,
                default="",
                db_default="",
                help_text="What we write to it has times of this zone.",
                max_length=50,
                validators=[validate_zone],
                verbose_name="time zone",
            ),
        ),
    ]
