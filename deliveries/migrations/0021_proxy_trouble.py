"""What a loop knows of the outgoing proxy, for /readyz and the desk."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("deliveries", "0020_holds_end")]

    operations = [
        migrations.AddField(
            model_name="loop",
            name="proxy_trouble",
            field=models.CharField(blank=True, db_default="", max_length=200),
        ),
    ]
