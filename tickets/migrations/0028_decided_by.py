"""Who decided each ticket, written beside the decision by a trigger that reads the history.

The version before writes no such column and decides while the new one starts, so a trigger does.
The history names users; the tokens of companies and automations are no users.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from companies.migration_steps import LockLast

FUNCTIONS = """
CREATE FUNCTION tickets_decider(bigint) RETURNS integer LANGUAGE sql STABLE AS $$
  SELECT auth_user.id FROM (
    SELECT by, actor FROM tickets_historyentry
    WHERE ticket_id = $1 AND public AND was IS NOT NULL ORDER BY id DESC LIMIT 1
  ) AS move JOIN auth_user ON username = actor WHERE by IN ('agent', 'lead')
$$;
CREATE FUNCTION tickets_keep_decider() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.decided_by_id := CASE WHEN NEW.decided_at IS NOT NULL THEN tickets_decider(NEW.id) END;
  RETURN NEW;
END $$;
"""
NO_FUNCTIONS = "DROP FUNCTION tickets_keep_decider(); DROP FUNCTION tickets_decider(bigint);"


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("tickets", "0027_pending_answers"),
    ]

    operations = [
        migrations.RunSQL(FUNCTIONS, NO_FUNCTIONS),
        LockLast(
            "tickets_ticket",
            operations=[
                migrations.AddField(
                    "ticket",
                    "decided_by",
                    models.ForeignKey(
                        db_index=False,
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
    ]
