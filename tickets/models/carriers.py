"""How tickets spell the names of carriers."""

from django.db import connection

from core.data.reading_order import reading_key
from shipments.carriers import carrier_key

# Looks at one entry of the index for each.
SPELLINGS = """
WITH RECURSIVE name AS (
  (SELECT carrier_name FROM tickets_ticket ORDER BY carrier_name LIMIT 1)
  UNION ALL
  SELECT (SELECT carrier_name FROM tickets_ticket WHERE carrier_name > name.carrier_name
          ORDER BY carrier_name LIMIT 1)
  FROM name WHERE name.carrier_name IS NOT NULL
)
SELECT carrier_name FROM name WHERE carrier_name IS NOT NULL
"""


def spellings_of(carrier: str) -> list[str]:
    """As tickets have the name of this carrier, whatever its case."""
    key = carrier_key(carrier)
    with connection.cursor() as cursor:
        cursor.execute(SPELLINGS)
        return [name for (name,) in cursor.fetchall() if carrier_key(name) == key]


def some_carriers(most: int) -> list[str]:
    """Names of carriers that tickets have, in the order of the alphabet."""
    with connection.cursor() as cursor:
        cursor.execute(f"{SPELLINGS} AND carrier_name <> '' LIMIT %s", [most])
        return sorted((name for (name,) in cursor.fetchall()), key=reading_key)
