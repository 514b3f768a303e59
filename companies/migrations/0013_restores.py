"""Identity of the database that the deployment was made with: a restored one is noticed."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("companies", "0012_hosts")]

    operations = [
        migrations.AddField(
            model_name="deployment",
            name="origin",
            field=models.CharField(max_length=100, null=True),
        ),
        migrations.AddField(
            model_name="deployment", name="restore", field=models.JSONField(null=True)
        ),
    ]
