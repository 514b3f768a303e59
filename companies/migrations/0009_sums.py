"""What all processes have counted (companies.measures.sums)."""

from django.db import migrations, models

# A few hundred rows that change every few seconds, each in its own page: no index grows, and there
# is always room for a row's next version.
ROOM = "ALTER TABLE companies_sum SET (fillfactor = 20, autovacuum_vacuum_scale_factor = 2)"


class Migration(migrations.Migration):
    dependencies = [("companies", "0008_audit")]

    operations = [
        migrations.CreateModel(
            name="Sum",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                ("labels", models.CharField(max_length=300)),
                ("value", models.FloatField()),
            ],
            options={"default_permissions": ()},
        ),
        migrations.AddConstraint(
            model_name="sum",
            constraint=models.UniqueConstraint(
                fields=["name", "labels"], name="one_sum_per_series"
            ),
        ),
        migrations.RunSQL(ROOM, migrations.RunSQL.noop),
    ]
