"""How many open tickets agents have is kept as sums of changes, which triggers on tickets write.

Triggers also note what processes of the version before do. Making them waits for the writers of
tickets; what is counted then, under the same lock, is what the changes begin with.
"""

import django.db.models.deletion
from django.db import migrations, models

# Terminal statuses are left out, as a decided ticket is nobody's load. Another one that is not
# named here would only be noted in vain: whoever asks for a load names the statuses that count.
NOTE = """
CREATE FUNCTION tickets_note_load() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' AND OLD.agent_id IS NOT NULL AND OLD.status NOT IN (2, 3) THEN
    INSERT INTO tickets_loadchange (agent_id, status, change)
    VALUES (OLD.agent_id, OLD.status, -1);
  END IF;
  IF TG_OP <> 'DELETE' AND NEW.agent_id IS NOT NULL AND NEW.status NOT IN (2, 3) THEN
    INSERT INTO tickets_loadchange (agent_id, status, change)
    VALUES (NEW.agent_id, NEW.status, 1);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER load_of_new AFTER INSERT ON tickets_ticket
  FOR EACH ROW WHEN (NEW.agent_id IS NOT NULL) EXECUTE FUNCTION tickets_note_load();
CREATE TRIGGER load_of_changed AFTER UPDATE OF agent_id, status ON tickets_ticket
  FOR EACH ROW WHEN (OLD.agent_id IS DISTINCT FROM NEW.agent_id OR OLD.status <> NEW.status)
  EXECUTE FUNCTION tickets_note_load();
CREATE TRIGGER load_of_deleted AFTER DELETE ON tickets_ticket
  FOR EACH ROW WHEN (OLD.agent_id IS NOT NULL) EXECUTE FUNCTION tickets_note_load();
"""
FORGET = """
DROP TRIGGER load_of_new ON tickets_ticket;
DROP TRIGGER load_of_changed ON tickets_ticket;
DROP TRIGGER load_of_deleted ON tickets_ticket;
DROP FUNCTION tickets_note_load();
"""
# From the index over open tickets, however many are decided.
BEGIN_WITH = """
INSERT INTO tickets_loadchange (agent_id, status, change)
SELECT agent_id, status, count(*) FROM tickets_ticket
WHERE agent_id IS NOT NULL AND NOT (status IN (2, 3)) GROUP BY agent_id, status
"""


class Migration(migrations.Migration):
    dependencies = [("tickets", "0011_appeals")]

    operations = [
        migrations.CreateModel(
            name="LoadChange",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("status", models.PositiveSmallIntegerField()),
                ("change", models.IntegerField()),
                (
                    "agent",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="tickets.agent",
                    ),
                ),
            ],
            options={
                "default_permissions": (),
                "indexes": [
                    models.Index(
                        fields=["agent"], include=("status", "change"), name="load_of_agent"
                    )
                ],
            },
        ),
        migrations.RunSQL(NOTE, FORGET),
        migrations.RunSQL(BEGIN_WITH, migrations.RunSQL.noop),
    ]
