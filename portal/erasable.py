"""Erasure of a company's doors: they close when it is switched off, and go (companies.erasing)."""

from companies import erasing

LINKS = """
SELECT link.id FROM portal_ticketlink AS link JOIN tickets_ticket AS ticket ON ticket.id = ticket_id
WHERE company_id = %(company)s
"""
SESSIONS = "SELECT id FROM portal_portalsession WHERE company_id = %(company)s"
DELETE_LINKS = {"links to tickets": "DELETE FROM portal_ticketlink WHERE id = ANY(%(keys)s)"}
DELETE_SESSIONS = {"sessions": "DELETE FROM portal_portalsession WHERE id = ANY(%(keys)s)"}

erasing.register_erasable(
    __name__,
    erasing.Part(
        "links to tickets",
        erasing.walk_of_ids(LINKS, 500),
        lambda keys: erasing.execute_all(DELETE_LINKS, keys),
    ),
    erasing.Part(
        "sessions",
        erasing.walk_of_ids(SESSIONS, 500),
        lambda keys: erasing.execute_all(DELETE_SESSIONS, keys),
    ),
)
