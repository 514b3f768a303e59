r"""What tickets are found by: a row for each, and indexes over messages, documents and files.

A trigger writes the row, which also serves the version before. Rows of older tickets are written
in steps by a task, from the newest on. The indexes tickets_words() and its like stay for the
version before and for what is not filled in yet.
"""

import django.contrib.postgres.search
import django.db.models.deletion
from django.contrib.postgres.indexes import GinIndex
from django.db import migrations, models

# Values of the variables: what stands between the signs of JSON, without spaces and hyphens. Only
# those that an order number could be.
TERMS = r"""
CREATE OR REPLACE FUNCTION tickets_search_terms(
  ticket_id bigint, body text, variables text, shop_order text, tracking text
) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  place text := (ticket_id >> 14)::text;
  given text := concat_ws(' ', variables, shop_order);
  found text[] := '{}';
BEGIN
  IF strpos(given, '\u') > 0 THEN
    BEGIN
      given := concat_ws(' ', variables::jsonb::text, shop_order);
    EXCEPTION WHEN OTHERS THEN
      -- Half a pair of surrogates, or a NUL: searched as it is written.
    END;
  END IF;
  IF given <> '' THEN
    found := array(
      SELECT place || '=' || piece
      FROM regexp_split_to_table(
        regexp_replace(search_folded(left(given, 40000)), '[- _/#]+', '', 'g'), '[][{}",:\\]+'
      ) AS piece
      WHERE length(piece) BETWEEN 4 AND 40 AND piece ~ '[0-9]'
    );
  END IF;
  IF length(tracking) >= 4 THEN
    found := found || array(
      SELECT place || '#' || substr(tracking, n, 4) FROM generate_series(1, length(tracking) - 3) n
    );
  END IF;
  RETURN search_terms(concat_ws(' ', body, given, tracking), ticket_id)
    || array_to_tsvector(found);
END $$;
"""
ENTRY = """
  SELECT ticket.id,
    CASE WHEN ticket.shipment_id IS NULL THEN '' ELSE left(search_key(parcel.tracking_number), 60)
    END,
    tickets_search_terms(ticket.id, ticket.comments, ticket.data, parcel."order"::text,
      left(search_key(parcel.tracking_number), 60))
"""
PARCEL = """
  LEFT JOIN shipments_shipment parcel
    ON parcel.id = ticket.shipment_id AND parcel.company_id = ticket.company_id
"""
INTO = "INSERT INTO tickets_searchentry (ticket_id, tracking, terms)"
FUNCTIONS = f"""
CREATE OR REPLACE FUNCTION tickets_write_search_entry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  {INTO} {ENTRY}
  FROM (SELECT NEW.*) AS ticket {PARCEL}
  ON CONFLICT (ticket_id) DO UPDATE SET tracking = excluded.tracking, terms = excluded.terms;
  RETURN NULL;
END $$;
CREATE FUNCTION tickets_write_search_entries(ids bigint[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  written bigint;
BEGIN
  {INTO} {ENTRY}
  FROM tickets_ticket AS ticket {PARCEL}
  WHERE ticket.id = ANY(ids) ORDER BY ticket.id
  ON CONFLICT (ticket_id) DO NOTHING;
  GET DIAGNOSTICS written = ROW_COUNT;
  RETURN written;
END $$;
"""  # noqa: S608 - of our own parts
TRIGGERS = """
CREATE TRIGGER search_entry_of_new AFTER INSERT ON tickets_ticket
  FOR EACH ROW EXECUTE FUNCTION tickets_write_search_entry();
CREATE TRIGGER search_entry_of_changed AFTER UPDATE OF comments, data, shipment_id ON tickets_ticket
  FOR EACH ROW WHEN (OLD.comments IS DISTINCT FROM NEW.comments
    OR OLD.data IS DISTINCT FROM NEW.data OR OLD.shipment_id IS DISTINCT FROM NEW.shipment_id)
  EXECUTE FUNCTION tickets_write_search_entry();
"""
NO_TRIGGERS = """
DROP TRIGGER search_entry_of_changed ON tickets_ticket;
DROP TRIGGER search_entry_of_new ON tickets_ticket;
"""
NO_FUNCTIONS = """
DROP FUNCTION tickets_write_search_entries(bigint[]);
DROP FUNCTION tickets_write_search_entry();
"""
# The trigger is there: what was opened before is not above this, and what comes has its row.
LEFT = """
INSERT INTO tickets_searchfill (id, left_up_to)
SELECT 1, coalesce(max(id), 0) FROM tickets_ticket ON CONFLICT DO NOTHING
"""
INDEXES = {
    "comment_search": "tickets_comment USING gin (search_terms(text, id))",
    "document_search": "tickets_document USING gin"
    " (search_terms(coalesce(key, '') || ' ' || coalesce(value, ''), id))",
    "requested_search": "tickets_requesteddocument USING gin (search_terms(name, id))",
    "file_search": "tickets_ticketfile USING gin (search_terms(name, id))",
}


class Migration(migrations.Migration):
    # Indexes of a live table are made outside of a transaction.
    atomic = False

    dependencies = [
        ("companies", "0007_search_words"),
        ("shipments", "0003_search_by_tracking_number"),
        ("tickets", "0015_notifications"),
    ]

    operations = [
        migrations.CreateModel(
            name="SearchEntry",
            fields=[
                (
                    "ticket",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="tickets.ticket",
                    ),
                ),
                ("tracking", models.TextField(null=True)),
                ("terms", django.contrib.postgres.search.SearchVectorField()),
            ],
            options={
                "default_permissions": (),
                "indexes": [
                    models.Index(
                        condition=models.Q(("tracking", None)),
                        fields=["-ticket"],
                        name="search_untracked",
                    ),
                    GinIndex(fastupdate=False, fields=["terms"], name="search_terms_of_ticket"),
                ],
            },
        ),
        migrations.CreateModel(
            name="SearchFill",
            fields=[
                (
                    "id",
                    models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False),
                ),
                ("left_up_to", models.BigIntegerField()),
            ],
            options={"default_permissions": ()},
        ),
        migrations.RunSQL(
            TERMS, "DROP FUNCTION tickets_search_terms(bigint, text, text, text, text)"
        ),
        migrations.RunSQL(FUNCTIONS, NO_FUNCTIONS),
        migrations.RunSQL(TRIGGERS, NO_TRIGGERS),
        migrations.RunSQL(LEFT, migrations.RunSQL.noop),
        migrations.RunSQL("SET statement_timeout = 0", migrations.RunSQL.noop),
        *(
            migrations.RunSQL(statement, undone)
            for name, what in INDEXES.items()
            for statement, undone in (
                # What an interrupted one left behind is no index.
                (f"DROP INDEX CONCURRENTLY IF EXISTS {name}", migrations.RunSQL.noop),
                (
                    f"CREATE INDEX CONCURRENTLY {name} ON {what} WITH (fastupdate = off)",
                    f"DROP INDEX CONCURRENTLY IF EXISTS {name}",
                ),
            )
        ),
        migrations.RunSQL("RESET statement_timeout", migrations.RunSQL.noop),
    ]
