"""Indexes for lists of any length: by status, type and carrier, by change, and by words.

The words of a company are apart from those of others in the same index, block by block, so that a
search reads nobody else's. A comment gets its company from a trigger, which also writes for the
version before; those that are there get it in batches.
"""

from django.apps.registry import Apps
from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

BATCH = 5_000

COMPANY = """
CREATE FUNCTION tickets_company_of_comment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.company_id := (SELECT company_id FROM tickets_ticket WHERE id = NEW.ticket_id);
  RETURN NEW;
END $$;
CREATE TRIGGER company_of_comment BEFORE INSERT ON tickets_comment
  FOR EACH ROW EXECUTE FUNCTION tickets_company_of_comment();
"""
NO_COMPANY = """
DROP TRIGGER company_of_comment ON tickets_comment;
DROP FUNCTION tickets_company_of_comment();
"""
FILL = """
UPDATE tickets_comment SET company_id = ticket.company_id FROM tickets_ticket AS ticket
WHERE ticket.id = tickets_comment.ticket_id AND tickets_comment.company_id IS NULL
  AND tickets_comment.id BETWEEN %s AND %s
"""
# The words of two texts, and the block of the row: 16,384 ids, one after the other, of a company.
FUNCTION = """
CREATE FUNCTION tickets_words_of(company bigint, id bigint, text, text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT to_tsvector('simple', $3) || to_tsvector('simple', coalesce($4, ''))
    || array_to_tsvector(ARRAY['company ' || $1::text || ' block ' || ($2 >> 14)::text])
$$
"""
WORDS = {
    "ticket_words_of": "tickets_ticket USING gin"
    " (tickets_words_of(company_id, id, comments, data)) WITH (fastupdate = off)",
    "comment_words_of": "tickets_comment USING gin"
    " (tickets_words_of(company_id, id, text, NULL::text)) WITH (fastupdate = off)"
    " WHERE public AND company_id IS NOT NULL",
}


def fill(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT coalesce(min(id), 1), coalesce(max(id), 0) FROM tickets_comment")
        first, last = cursor.fetchone()
        for start in range(first, last + 1, BATCH):
            cursor.execute(FILL, [start, start + BATCH - 1])


class Migration(migrations.Migration):
    # Indexes of a live table are made outside of a transaction.
    atomic = False

    dependencies = [("tickets", "0012_agents_loads")]

    operations = [
        migrations.RunSQL("SET statement_timeout = 0", migrations.RunSQL.noop),
        AddIndexConcurrently(
            "ticket",
            models.Index(
                fields=["company", "status", "-created_at", "-id"],
                include=("type",),
                name="ticket_company_by_status",
            ),
        ),
        RemoveIndexConcurrently("ticket", "ticket_company_status"),
        AddIndexConcurrently(
            "ticket",
            models.Index(
                fields=["company", "type", "-created_at", "-id"],
                include=("status",),
                name="ticket_company_by_type",
            ),
        ),
        AddIndexConcurrently(
            "ticket",
            models.Index(
                condition=models.Q(("carrier_id__isnull", False)),
                fields=["company", "carrier_id", "-created_at", "-id"],
                include=("status",),
                name="ticket_company_by_carrier",
            ),
        ),
        AddIndexConcurrently(
            "ticket",
            models.Index(
                fields=["company", "updated_at", "id"],
                include=("status", "type"),
                name="ticket_company_changed",
            ),
        ),
        migrations.AddField(
            "comment", "company_id", models.BigIntegerField(editable=False, null=True)
        ),
        migrations.RunSQL(COMPANY, NO_COMPANY),
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.RunSQL(FUNCTION, "DROP FUNCTION tickets_words_of(bigint, bigint, text, text)"),
        *(
            migrations.RunSQL(
                f"CREATE INDEX CONCURRENTLY {name} ON {what}",
                f"DROP INDEX CONCURRENTLY IF EXISTS {name}",
            )
            for name, what in WORDS.items()
        ),
        migrations.RunSQL("RESET statement_timeout", migrations.RunSQL.noop),
    ]
