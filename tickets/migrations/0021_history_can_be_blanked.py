"""History stays append-only, but for erasures: they blank what people wrote (decision N24).

Within a transaction that says so, the free text, the facts and the request id of an entry may be
replaced. Its skeleton cannot, and nothing deletes an entry.
"""

from django.db import migrations

DOOR = """
CREATE OR REPLACE FUNCTION tickets_history_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND current_setting('parceldesk.erasing', true) = 'on' THEN
    IF to_jsonb(NEW) - '{reason,changes,request_id}'::text[]
        = to_jsonb(OLD) - '{reason,changes,request_id}'::text[] THEN
      RETURN NEW;
    END IF;
  END IF;
  RAISE EXCEPTION 'the history of a ticket is append-only' USING ERRCODE = 'restrict_violation';
END $$;
"""
NO_DOOR = """
CREATE OR REPLACE FUNCTION tickets_history_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the history of a ticket is append-only' USING ERRCODE = 'restrict_violation';
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("tickets", "0020_indexes_of_automations")]

    operations = [migrations.RunSQL(DOOR, NO_DOOR)]
