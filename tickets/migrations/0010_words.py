"""The desk searches the words of tickets and comments (decision: words by blocks).

tickets_words() is the words of a text and the block of its row: 16,384 ids, one after the other.
The desk asks for a word block by block, the newest first, and stops when it has enough: a word of
half a million tickets then costs no more than one that none has. No text has a word with a space
in it, as the names of the blocks have.
"""

from django.db import migrations

MAKE = """
CREATE FUNCTION tickets_words(body text, id bigint) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT to_tsvector('simple', body) || array_to_tsvector(ARRAY['block ' || (id >> 14)::text])
$$
"""
# Without the list of what is pending, which every search would have to read through.
INDEX = "CREATE INDEX CONCURRENTLY {} USING gin (tickets_words({}, id)) WITH (fastupdate = off)"
INDEXES = {
    "ticket_words": INDEX.format("ticket_words ON tickets_ticket", "comments"),
    "comment_words": INDEX.format("comment_words ON tickets_comment", "text"),
}


class Migration(migrations.Migration):
    # Indexes of a live table are made outside of a transaction.
    atomic = False

    dependencies = [("tickets", "0009_the_desk_s_lists")]

    operations = [
        migrations.RunSQL("SET statement_timeout = 0", migrations.RunSQL.noop),
        migrations.RunSQL(MAKE, "DROP FUNCTION tickets_words(text, bigint)"),
        *(
            migrations.RunSQL(make, f"DROP INDEX CONCURRENTLY {name}")
            for name, make in INDEXES.items()
        ),
        migrations.RunSQL("RESET statement_timeout", migrations.RunSQL.noop),
    ]
