"""Sort names as readers expect on every database: reading_order('Álamo') is 'alamo'.

It calls nothing but PostgreSQL's own, as an index is restored without our search_path. An ñ sorts
behind n: it is 'n~'.
"""

import importlib

from django.db import migrations

FOLDED = importlib.import_module("companies.migrations.0007_search_words").folded
ENYE = "replace(replace(normalize($1, NFC), U&'\\00F1', 'n~'), U&'\\00D1', 'N~')"
# In lower case there is a second sigma, for the end of a word.
KEY = f"replace({FOLDED(ENYE)}, U&'\\03C2', U&'\\03C3')"


class Migration(migrations.Migration):
    # The index of a live table is made outside of a transaction.
    atomic = False

    dependencies = [("companies", "0015_kept_answer_meaning")]

    operations = [
        migrations.RunSQL(
            "CREATE OR REPLACE FUNCTION reading_order(text) RETURNS text"
            f" LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT {KEY} $$",
            "DROP FUNCTION reading_order(text)",
        ),
        migrations.RunSQL("SET statement_timeout = 0", migrations.RunSQL.noop),
        # An interrupted build leaves an index that nothing uses.
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS company_by_name", migrations.RunSQL.noop
        ),
        migrations.RunSQL(
            "CREATE INDEX CONCURRENTLY company_by_name ON companies_company"
            ' (reading_order(name) COLLATE "C")',
            "DROP INDEX CONCURRENTLY IF EXISTS company_by_name",
        ),
        migrations.RunSQL("RESET statement_timeout", migrations.RunSQL.noop),
    ]
