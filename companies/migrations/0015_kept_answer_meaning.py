"""A repeat with the same JSON, written differently, gets the first answer too."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("companies", "0014_acts_by_api")]

    operations = [
        migrations.AddField(
            model_name="keptanswer",
            name="meaning",
            field=models.CharField(db_default="", default="", max_length=64),
        ),
    ]
