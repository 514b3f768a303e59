from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("desk", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="visit",
            name="last_form",
            field=models.UUIDField(editable=False, null=True),
        ),
    ]
