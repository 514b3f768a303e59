"""History is not emptied either: TRUNCATE passes by the triggers that look at rows."""

from django.db import migrations

TRIGGER = """
CREATE TRIGGER not_truncated BEFORE TRUNCATE ON tickets_historyentry
  FOR EACH STATEMENT EXECUTE FUNCTION tickets_history_is_append_only();
"""
DROP = "DROP TRIGGER not_truncated ON tickets_historyentry;"


class Migration(migrations.Migration):
    dependencies = [("tickets", "0005_sla_targets")]

    operations = [migrations.RunSQL(TRIGGER, DROP)]
