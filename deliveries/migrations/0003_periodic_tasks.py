"""How each periodic task goes: its runs, its lease, its last success."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("deliveries", "0002_wakeups"),
    ]

    operations = [
        migrations.AddField(
            model_name="pulse",
            name="begun_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="pulse",
            name="done_at",
            field=models.DateTimeField(help_text="The last success.", null=True),
        ),
        migrations.AddField(
            model_name="pulse",
            name="lease_until",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="pulse",
            name="run",
            field=models.UUIDField(null=True),
        ),
        migrations.AddField(
            model_name="pulse",
            name="tries",
            field=models.PositiveSmallIntegerField(
                db_default=0, help_text="Begun since that success."
            ),
        ),
        migrations.AlterField(
            model_name="pulse",
            name="at",
            field=models.DateTimeField(null=True),
        ),
    ]
