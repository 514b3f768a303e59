from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("deliveries", "0008_asked_again")]

    operations = [
        migrations.CreateModel(
            name="SampleSend",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("company_id", models.BigIntegerField()),
                ("process", models.CharField(max_length=300)),
                ("until", models.DateTimeField()),
            ],
        ),
    ]
