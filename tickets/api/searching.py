"""A company's tickets by words: in the opening text, the variables and the public conversation."""

from datetime import datetime
from typing import NamedTuple

from core.data import statements
from core.values.spellings import text_spellings

MOST_FOUND = 1_000
# Block after block from the newest on, until there are enough; of a block only what is the
# company's is read. See tickets_words_of() for what a block is. OFFSET 0 keeps PostgreSQL from
# reading by time instead, once for each block.
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


class FoundByWords(NamedTuple):
    """At most MOST_FOUND ids, the newest; and whether there are more."""

    ids: list[int]
    more: bool


def find_words(company_id: int, words: str, since: datetime, until: datetime) -> FoundByWords:
    """Tickets of the company, opened in that time, with all of these words in one text."""
    spelled = {f"words_{at}": one for at, one in enumerate(text_spellings(words))}
    query = " || ".join(f"websearch_to_tsquery('simple', %({name})s)" for name in spelled)
    values = {
        "company": company_id,
        **spelled,
        "since": since,
        "until": until,
        "most": MOST_FOUND + 1,
    }
    rows = statements.fetch_rows(WORDS.format(query=f"({query})"), values)
    ids = [ticket_id for (ticket_id,) in rows]
    return FoundByWords(ids[:MOST_FOUND], more=len(ids) > MOST_FOUND)
