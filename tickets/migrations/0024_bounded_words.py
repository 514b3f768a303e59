r"""Index the first 2,000 different words of a text, and each word of a comment twice, not thrice.

A text of 64 KiB can have 10,900 words that nobody else uses, and each is an entry of its own in
every index of words. What is in the indexes already stays and is found as before.

The functions call nothing but PostgreSQL's own, as an index is restored without our search_path.
"""

import importlib

from django.db import migrations

MOST = 2_000
SEARCH_WORDS = importlib.import_module("companies.migrations.0007_search_words").WORDS
FIRST = f"""
  IF length(words) > {MOST} THEN
    words := ts_delete(words, ARRAY(
      SELECT lexeme FROM unnest(words) ORDER BY positions[1], lexeme OFFSET {MOST}));
  END IF;
"""  # noqa: S608 - our own number
FUNCTIONS = rf"""
CREATE OR REPLACE FUNCTION tickets_words_of(company bigint, id bigint, text, text)
RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  words tsvector := to_tsvector('simple', $3) || to_tsvector('simple', coalesce($4, ''));
BEGIN
  {FIRST}
  RETURN words
    || array_to_tsvector(ARRAY['company ' || $1::text || ' block ' || ($2 >> 14)::text]);
END $$;

CREATE OR REPLACE FUNCTION tickets_words(body text, id bigint) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  words tsvector := to_tsvector('simple', $1);
BEGIN
  {FIRST}
  RETURN words || array_to_tsvector(ARRAY['block ' || ($2 >> 14)::text]);
END $$;

CREATE OR REPLACE FUNCTION search_terms(text, bigint) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 2000 AS $$
DECLARE
  words text := {SEARCH_WORDS};
  place text := ($2 >> 14)::text || ' ';
  found text[];
BEGIN
  IF words = '' OR words IS NULL THEN
    RETURN '';
  END IF;
  -- No word of so many letters is asked for, and PostgreSQL takes none of 2 KB.
  IF octet_length(words) > 200 THEN
    words := btrim(regexp_replace(words, '[^ ]{{200,}} ?', '', 'g'));
  END IF;
  found := string_to_array(place || replace(words, ' ', E'\x01' || place), E'\x01');
  IF cardinality(found) > {MOST} THEN
    found := ARRAY(
      SELECT word FROM unnest(found) WITH ORDINALITY AS each (word, number)
      GROUP BY word ORDER BY min(number) LIMIT {MOST});
  END IF;
  RETURN array_to_tsvector(found);
END $$;
"""  # noqa: S608 - of our own parts
# Connections that are open keep the old function in what they know of an index, and would read the
# whole table, until the index itself is touched.
TOUCHED = ("ticket_words_of", "comment_words_of", "ticket_words")
BACK = """
CREATE INDEX CONCURRENTLY IF NOT EXISTS comment_words
ON tickets_comment USING gin (tickets_words(text, id)) WITH (fastupdate = off)
"""


class Migration(migrations.Migration):
    # An index of a live table is dropped outside of a transaction.
    atomic = False

    dependencies = [("companies", "0007_search_words"), ("tickets", "0023_text_of_a_day")]

    operations = [
        migrations.RunSQL(FUNCTIONS, migrations.RunSQL.noop),
        *(
            migrations.RunSQL(f"ALTER INDEX {name} SET (fastupdate = off)", migrations.RunSQL.noop)
            for name in TOUCHED
        ),
        migrations.RunSQL("SET statement_timeout = 0", migrations.RunSQL.noop),
        # The version that searched it is not the one before.
        migrations.RunSQL("DROP INDEX CONCURRENTLY IF EXISTS comment_words", BACK),
        migrations.RunSQL("RESET statement_timeout", migrations.RunSQL.noop),
    ]
