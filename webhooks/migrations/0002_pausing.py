from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("webhooks", "0001_initial")]

    operations = [
        migrations.AlterModelOptions(
            name="webhook",
            options={"permissions": [("pause_webhook", "Can pause and resume a webhook")]},
        ),
    ]
