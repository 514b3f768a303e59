r"""What search compares: words and keys without accents, case and punctuation, made by PostgreSQL.

Text and what is asked for go through the same functions, so that they cannot differ. They call
nothing but PostgreSQL's own: an index is built and restored without our search_path.

- search_words('Año-Nuevo, Ñ') is 'ano nuevo n'
- search_folded('Año-Nuevo, Ñ') is 'ano-nuevo, n'
- search_key('99m6 0035-07') is '99m6003507'
- search_terms('Año Nuevo', 20000) is '1 ano' and '1 nuevo': each word behind the name of the block
  of the row, which is 16,384 ids. Words of a block lie side by side in an index, so that those that
  begin alike are read in one block and not in all.
- search_names('Café Altura') has each word of a name with any one letter left out, and whole: a
  mistyped word, treated alike, has one of them.

Companies have a row with both of their name, which a trigger writes, also for the version before.
"""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.apps.registry import Apps
from django.contrib.postgres.indexes import GinIndex
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

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
FUNCTIONS = rf"""
CREATE OR REPLACE FUNCTION search_words(text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT {WORDS} $$;

CREATE OR REPLACE FUNCTION search_folded(text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT {folded("$1")} $$;

CREATE OR REPLACE FUNCTION search_key(text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT {KEY} $$;

CREATE OR REPLACE FUNCTION search_terms(text, bigint) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 2000 AS $$
DECLARE
  words text := {WORDS};
  place text := ($2 >> 14)::text || ' ';
BEGIN
  IF words = '' OR words IS NULL THEN
    RETURN '';
  END IF;
  -- No word of so many letters is asked for, and PostgreSQL takes none of 2 KB.
  IF octet_length(words) > 200 THEN
    words := btrim(regexp_replace(words, '[^ ]{{200,}} ?', '', 'g'));
  END IF;
  RETURN array_to_tsvector(string_to_array(
    place || replace(words, ' ', E'\x01' || place), E'\x01'));
END $$;

CREATE OR REPLACE FUNCTION search_names(text) RETURNS text[]
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
NO_FUNCTIONS = """
DROP FUNCTION search_names(text);
DROP FUNCTION search_terms(text, bigint);
DROP FUNCTION search_key(text);
DROP FUNCTION search_folded(text);
DROP FUNCTION search_words(text);
"""


TRIGGER = """
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
NO_TRIGGER = """
DROP TRIGGER search_name ON companies_company;
DROP FUNCTION companies_write_search_name();
"""
# A company that is renamed meanwhile writes its own, which is newer: that one stays.
FILL = """
INSERT INTO companies_searchname (company_id, words, nearly)
SELECT id, search_words(name), search_names(name) FROM companies_company
WHERE id BETWEEN %s AND %s ORDER BY id
ON CONFLICT DO NOTHING
"""
BATCH = 500


def fill(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT coalesce(min(id), 1), coalesce(max(id), 0) FROM companies_company")
        first, last = cursor.fetchone()
        for start in range(first, last + 1, BATCH):
            cursor.execute(FILL, [start, start + BATCH - 1])


class Migration(migrations.Migration):
    # Names are written in batches, each committed by itself.
    atomic = False

    dependencies = [("companies", "0006_platform_feed")]

    operations = [
        migrations.RunSQL(FUNCTIONS, NO_FUNCTIONS),
        migrations.CreateModel(
            name="SearchName",
            fields=[
                (
                    "company",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="companies.company",
                    ),
                ),
                ("words", models.TextField()),
                ("nearly", django.contrib.postgres.fields.ArrayField(models.TextField())),
            ],
            options={
                "default_permissions": (),
                "indexes": [
                    GinIndex(fastupdate=False, fields=["nearly"], name="search_names_nearly")
                ],
            },
        ),
        migrations.RunSQL(TRIGGER, NO_TRIGGER),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
