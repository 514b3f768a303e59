"""Wake-ups, lanes and the leases of engine loops.

What waits already has no wake-up yet. The engine finds it by itself, as it finds what a version
without wake-ups publishes while both run.
"""

from django.db import migrations, models

# Rows live for milliseconds, or until a retry is due. The table turns over all day: it is vacuumed
# by count of dead rows, not by share, and without pauses.
TABLES = """
CREATE TABLE deliveries_wakeup (
  webhook_id bigint NOT NULL,
  due_at timestamptz NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0,
        autovacuum_analyze_threshold = 20000);
CREATE INDEX wakeup_due ON deliveries_wakeup (due_at);

CREATE TABLE deliveries_lane (
  webhook_id bigint PRIMARY KEY,
  loop_id uuid NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_cost_delay = 0);

CREATE TABLE deliveries_loop (
  id uuid PRIMARY KEY,
  host varchar(255) NOT NULL,
  process_id integer NOT NULL,
  started_at timestamptz NOT NULL,
  lease_until timestamptz NOT NULL,
  lost boolean NOT NULL
) WITH (fillfactor = 50);
"""
DROP = "DROP TABLE deliveries_loop, deliveries_lane, deliveries_wakeup;"


class Migration(migrations.Migration):
    dependencies = [("deliveries", "0001_initial")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(TABLES, DROP)],
            state_operations=[
                migrations.CreateModel(
                    name="TakenLane",
                    fields=[
                        ("webhook_id", models.BigIntegerField(primary_key=True, serialize=False)),
                        ("loop_id", models.UUIDField()),
                    ],
                    options={"db_table": "deliveries_lane"},
                ),
                migrations.CreateModel(
                    name="Loop",
                    fields=[
                        ("id", models.UUIDField(primary_key=True, serialize=False)),
                        ("host", models.CharField(max_length=255)),
                        ("process_id", models.IntegerField()),
                        ("started_at", models.DateTimeField()),
                        ("lease_until", models.DateTimeField()),
                        ("lost", models.BooleanField()),
                    ],
                    options={"db_table": "deliveries_loop"},
                ),
                migrations.CreateModel(
                    name="Wakeup",
                    fields=[
                        ("webhook_id", models.BigIntegerField(primary_key=True, serialize=False)),
                        ("due_at", models.DateTimeField()),
                    ],
                    options={"db_table": "deliveries_wakeup"},
                ),
            ],
        ),
    ]
