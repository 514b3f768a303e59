"""Search, reading order, and the guard of the audit.

The functions call nothing but PostgreSQL's own, as an index is restored without our search_path.
"""

from django.db import migrations

# Accents and other marks, once letters are taken apart; and what nobody sees.
MARKS = (
    r"[\u0300-\u036F\u0483-\u0487\u0591-\u05BD\u0640\u064B-\u065F"
    r"\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFE00-\uFE0F\uFEFF]+"
)
# Between words: what is neither a letter nor a digit. Named one by one, since which characters are
# letters depends on the locale of the database.
BREAKS = (
    r"[\u0001-\u002F\u003A-\u0040\u005B-\u0060\u007B-\u00BF\u2010-\u2027\u2028-\u205F"
    r"\u20A0-\u20BF\u2190-\u2BFF\u3000-\u303F]+"
)
# Letters that are not taken apart.
LETTERS = ("ØO", "øo", "ŁL", "łl", "ĐD", "đd", "ıi", "ßss", "ÆAE", "æae", "ŒOE", "œoe")  # noqa: RUF001


def folded(text: str) -> str:
    found = f"regexp_replace(normalize({text}, NFKD), '{MARKS}', '', 'g')"
    for pair in LETTERS:
        found = f"replace({found}, '{pair[0]}', '{pair[1:]}')"
    return f"lower({found})"


# Longer than any text that is taken, and short enough for what PostgreSQL indexes of a row.
WORDS = f"btrim(left(regexp_replace({folded('$1')}, '{BREAKS}', ' ', 'g'), 80000))"
KEY = f"regexp_replace({folded('$1')}, '{BREAKS}', '', 'g')"

# No more different words of a text are indexed: each is an entry of its own in every index.
MOST = 2_000
FUNCTIONS = rf"""
CREATE FUNCTION search_words(text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT {WORDS} $$;

CREATE FUNCTION search_folded(text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT {folded("$1")} $$;

CREATE FUNCTION search_key(text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT {KEY} $$;

CREATE FUNCTION search_terms(text, bigint) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 2000 AS $$
DECLARE
  words text := {WORDS};
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

CREATE FUNCTION search_names(text) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  WITH name AS (
    SELECT DISTINCT word FROM unnest(string_to_array({WORDS}, ' ')) AS word
    WHERE length(word) BETWEEN 3 AND 40
  )
  SELECT array(
    SELECT word FROM name
    UNION SELECT left(word, n - 1) || substr(word, n + 1)
      FROM name, generate_series(1, length(word)) AS n
  )
$$;
"""  # noqa: S608 - of our own parts

# An ñ sorts behind n: it is 'n~'. In lower case there is a second sigma, for the end of a word.
ENYE = "replace(replace(normalize($1, NFC), U&'\\00F1', 'n~'), U&'\\00D1', 'N~')"
READING_ORDER = f"""
CREATE FUNCTION reading_order(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT replace({folded(ENYE)}, U&'\\03C2', U&'\\03C3')
$$;
CREATE INDEX company_by_name ON companies_company (reading_order(name) COLLATE "C");
"""
SEARCH_NAMES = """
CREATE FUNCTION companies_write_search_name() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO companies_searchname (company_id, words, nearly)
  VALUES (NEW.id, search_words(NEW.name), search_names(NEW.name))
  ON CONFLICT (company_id) DO UPDATE SET words = excluded.words, nearly = excluded.nearly;
  RETURN NULL;
END $$;
CREATE TRIGGER search_name AFTER INSERT OR UPDATE OF name ON companies_company
  FOR EACH ROW EXECUTE FUNCTION companies_write_search_name();
"""
# A trigger keeps the audit whoever writes, also in a shell of the database.
GUARD = """
CREATE FUNCTION companies_guard_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF OLD.outcome IS NULL AND to_jsonb(NEW) - '{outcome,ended_at}'::text[]
        = to_jsonb(OLD) - '{outcome,ended_at}'::text[] THEN
      RETURN NEW;
    END IF;
  ELSIF TG_OP = 'DELETE' AND OLD.at < statement_timestamp() - interval '90 days' THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'entries of the audit are not changed, and deleted after 90 days at the earliest'
    USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER guarded BEFORE UPDATE OR DELETE ON companies_auditentry
  FOR EACH ROW EXECUTE FUNCTION companies_guard_audit();
CREATE TRIGGER not_truncated BEFORE TRUNCATE ON companies_auditentry
  FOR EACH STATEMENT EXECUTE FUNCTION companies_guard_audit();
"""


class Migration(migrations.Migration):
    dependencies = [("companies", "0001_initial")]

    operations = [
        migrations.RunSQL(FUNCTIONS, migrations.RunSQL.noop),
        migrations.RunSQL(READING_ORDER, migrations.RunSQL.noop),
        migrations.RunSQL(SEARCH_NAMES, migrations.RunSQL.noop),
        migrations.RunSQL(GUARD, migrations.RunSQL.noop),
    ]
