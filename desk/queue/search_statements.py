"""SQL statements that find tickets, each through its own index, newest first."""

# Must be the block size of the database function search_terms().
BLOCK_BITS = 14
MOST_COMPANIES = 20
MOST_AGENTS = 5
# Texts that are read at most to check the word order of a phrase.
MOST_LOOKED_THROUGH = 1_000

BY_ID = "SELECT id FROM tickets_ticket WHERE id = %(number)s"
BY_SHIPMENT = "SELECT id FROM tickets_ticket WHERE shipment_id = %(number)s"
BY_TRACKING = """
SELECT ticket.id FROM shipments_shipment parcel
JOIN tickets_ticket ticket
  ON ticket.shipment_id = parcel.id AND ticket.company_id = parcel.company_id
WHERE search_key(parcel.tracking_number) = %(key)s AND %(key)s <> ''
"""
# The newest of each name, through an index that begins with its column: a company with many
# tickets is never read whole.
NEWEST_OF = """
SELECT theirs.id FROM unnest(%({names})s::{kind}[]) AS one
CROSS JOIN LATERAL (
  SELECT id FROM tickets_ticket WHERE {column} = one
  ORDER BY created_at DESC, id DESC LIMIT %(most)s
) theirs
"""
BY_NAMES = [
    NEWEST_OF.format(names="companies", kind="bigint", column="company_id"),
    NEWEST_OF.format(names="agents", kind="bigint", column="agent_id"),
    NEWEST_OF.format(names="types", kind="bigint", column="type_id"),
    NEWEST_OF.format(names="carriers", kind="text", column="carrier_name"),
]
# Block by block from the newest on, until there are enough rows: equally fast for a word that half
# of all tickets have and for one that no ticket has. OFFSET 0 keeps PostgreSQL from reading all
# rows by their ids instead. See search_terms() for what a block is.
BLOCKS = """
SELECT found.* FROM generate_series((SELECT max({key}) FROM {table}) >> {bits}, 0, -1) AS block
CROSS JOIN LATERAL (
  SELECT {ticket} AS id{text} FROM {table}
  WHERE {terms} @@ replace(%({query})s, E'\\x01', block::text)::tsquery
  ORDER BY {key} DESC OFFSET 0
) found
"""
ENTRIES = {"table": "tickets_searchentry", "key": "ticket_id", "ticket": "ticket_id"}
TEXTS = {
    "comments": ("tickets_comment", "text"),
    "documents": ("tickets_document", "coalesce(key, '') || ' ' || coalesce(value, '')"),
    "requests": ("tickets_requesteddocument", "name"),
    "files": ("tickets_ticketfile", "name"),
}
OPENING = """(SELECT concat_ws(' ', comments, data) FROM tickets_ticket
  WHERE tickets_ticket.id = ticket_id)"""


def blocks(query: str, *, table: str, key: str, ticket: str, terms: str, text: str = "") -> str:
    return BLOCKS.format(
        query=query,
        table=table,
        key=key,
        ticket=ticket,
        terms=terms,
        text=f", {text} AS text" if text else "",
        bits=BLOCK_BITS,
    )


def in_entries(query: str) -> str:
    """Return the statement for tickets whose entry has the terms of the parameter `query`."""
    return f"{blocks(query, **ENTRIES, terms='terms')} LIMIT %(most)s"


def with_words(*, phrases: bool) -> list[str]:
    """Return a statement for each table with texts; phrases are matched in the texts themselves."""
    statements = [blocks("words", **ENTRIES, terms="terms", text=OPENING if phrases else "")]
    for table, text in TEXTS.values():
        statements.append(
            blocks(
                "words",
                table=table,
                key=f"{table}.id",
                ticket="ticket_id",
                terms=f"search_terms({text}, {table}.id)",
                text=text if phrases else "",
            )
        )
    if not phrases:
        return [f"{statement} LIMIT %(most)s" for statement in statements]
    return [having_phrases(statement) for statement in statements]


def having_phrases(statement: str) -> str:
    return f"""
SELECT id FROM ({statement} LIMIT {MOST_LOOKED_THROUGH}) AS candidate
WHERE (SELECT bool_and(strpos(
    translate(' ' || search_words(text) || ' ', %(plain_from)s, %(plain_to)s), ' ' || phrase || ' '
  ) > 0) FROM unnest(%(phrases)s::text[]) AS phrase)
"""  # noqa: S608 - of our own parts


IN_PARTS = f"""
SELECT ticket_id FROM tickets_searchentry
WHERE ticket_id IN ({in_entries("part_words")}) AND tracking LIKE '%%' || %(part)s || '%%'
"""  # noqa: S608 - of our own parts
IN_VALUES = in_entries("value")
