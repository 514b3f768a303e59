"""Tickets, and hooks by which an app notifies one above it."""

from config.settings.base import env

# Decision T9: function (ticket, text, data) -> True if the ticket may come back to an agent.
RELEVANCE_CHECK = env.str("RELEVANCE_CHECK", default="tickets.relevance.says_something")
# Decision N14: days in which a decision can be appealed.
APPEAL_DAYS = env.int("APPEAL_DAYS", default=30)
# Decision N18: seconds in which an agent can undo an action that reaches a company.
UNDO_SECONDS = env.int("UNDO_SECONDS", default=10)
# Decision N40: limits on a company's texts.
COMMENTS_PER_TICKET = env.int("COMMENTS_PER_TICKET", default=5_000)
TEXT_MIB_PER_DAY = env.int("TEXT_MIB_PER_DAY", default=64)
# Pairs of a carrier and its page, which may contain {number}; an empty page removes the link
# (shipments/carrier_pages.py).
CARRIER_PAGES = env.listed(
    "CARRIER_PAGES",
    lambda pair: tuple(each.strip() for each in pair.partition("=")[::2]),
    default=[],
    kind="a list of pairs such as Acme=https://acme.example/track/{number}",
)
# Decision T19: called for an opened incidence, in its transaction. Shipments do not import tickets.
INCIDENCE_RECORDED = "tickets.incidences.link_tickets"
# Called for a resumed webhook, in its transaction. Webhooks do not import deliveries.
WEBHOOK_RESUMED = "deliveries.redelivery.catch_up"
# Returns the number after which the stream of a new webhook begins (decision N6).
NEWEST_EVENT_NUMBER = "deliveries.publishing.newest_number"
# Called for a reactivated company, in its transaction. Companies do not import webhooks.
COMPANY_RESUMED = "webhooks.services.resume_company"
# Called for a company that is switched off, in its transaction. Companies do not import the page.
COMPANY_STOPPED = "portal.access.stop_company"
# Returns the address of a new link to a ticket, for an email. Tickets do not import the page.
TICKET_LINK = "portal.access.link_to"
