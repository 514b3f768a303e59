"""Search for words in a company's tickets: opening text, variables and public conversation."""

from datetime import datetime
from typing import NamedTuple

from core.data import statements
from core.values.spellings import text_spellings

MOST_FOUND = 1_000
# Search block by block from the newest, until there are enough matches; the index gives only the
# company's rows of a block, which tickets_words_of() defines. Without OFFSET 0, PostgreSQL would
# scan by time instead, once for each block.
WORDS = """
SELECT id FROM (
  (SELECT found.id FROM generate_series(
      (SELECT max(id) FROM tickets_ticket) >> 14, 0, -1
    ) AS block
    CROSS JOIN LATERAL (
      SELECT id, created_at FROM tickets_ticket
      WHERE tickets_words_of(company_id, id, comments, data) @@ (
        {query}
        && ('''company ' || %(company)s::bigint || ' block ' || block || '''')::tsquery
      )
      ORDER BY id DESC OFFSET 0
    ) found
    WHERE found.created_at BETWEEN %(since)s AND %(until)s
    LIMIT %(most)s)
  UNION
  (SELECT ticket.id FROM generate_series(
      (SELECT max(id) FROM tickets_comment) >> 14, 0, -1
    ) AS block
    CROSS JOIN LATERAL (
      SELECT ticket_id FROM tickets_comment
      WHERE tickets_words_of(company_id, id, text, NULL) @@ (
        {query}
        && ('''company ' || %(company)s::bigint || ' block ' || block || '''')::tsquery
      ) AND public AND company_id IS NOT NULL
      ORDER BY id DESC OFFSET 0
    ) found
    JOIN tickets_ticket ticket ON ticket.id = found.ticket_id
      AND ticket.created_at BETWEEN %(since)s AND %(until)s
    LIMIT %(most)s)
) AS either
WHERE numnode({query}) > 0
ORDER BY id DESC LIMIT %(most)s
"""


class WordMatches(NamedTuple):
    """Ids of the newest MOST_FOUND matches, and whether there are more."""

    ids: list[int]
    more: bool


def find_words(company_id: int, words: str, since: datetime, until: datetime) -> WordMatches:
    """Search a company's tickets opened in a period for texts that contain all of the words."""
    spellings = {f"words_{at}": one for at, one in enumerate(text_spellings(words))}
    query = " || ".join(f"websearch_to_tsquery('simple', %({name})s)" for name in spellings)
    values = {
        "company": company_id,
        **spellings,
        "since": since,
        "until": until,
        "most": MOST_FOUND + 1,
    }
    rows = statements.fetch_rows(WORDS.format(query=f"({query})"), values)
    ids = [ticket_id for (ticket_id,) in rows]
    return WordMatches(ids[:MOST_FOUND], more=len(ids) > MOST_FOUND)
