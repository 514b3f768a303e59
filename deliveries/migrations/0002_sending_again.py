from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("deliveries", "0001_initial")]

    operations = [
        migrations.AlterModelOptions(
            name="delivery",
            options={
                "verbose_name_plural": "deliveries",
                "permissions": [("send_again", "Can send a delivery again")],
            },
        ),
    ]
