"""The database itself refuses to change or delete a ticket's history (decision T17)."""

from django.db import migrations

REFUSE = """
CREATE FUNCTION tickets_history_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the history of a ticket is append-only' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON tickets_historyentry
  FOR EACH ROW EXECUTE FUNCTION tickets_history_is_append_only();
"""
ALLOW = """
DROP TRIGGER append_only ON tickets_historyentry;
DROP FUNCTION tickets_history_is_append_only();
"""


class Migration(migrations.Migration):
    dependencies = [("tickets", "0002_ticket_types")]

    operations = [migrations.RunSQL(REFUSE, ALLOW)]
