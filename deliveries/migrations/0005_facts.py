"""What the events of one fact have in common. A version that does not know it leaves it null."""

from django.db import migrations, models

COLUMNS = "ALTER TABLE deliveries_event ADD COLUMN fact_id uuid, ADD COLUMN sequence bigint;"
DROP = "ALTER TABLE deliveries_event DROP COLUMN fact_id, DROP COLUMN sequence;"


class Migration(migrations.Migration):
    dependencies = [("deliveries", "0004_mail")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(COLUMNS, DROP)],
            state_operations=[
                migrations.AddField("event", "fact_id", models.UUIDField(null=True)),
                migrations.AddField("event", "sequence", models.BigIntegerField(null=True)),
            ],
        ),
    ]
