"""Tickets, and which app hears of what in another."""

from config.settings.base import env

# Decision T9: (ticket, text, data) -> may the ticket come back to an agent?
RELEVANCE_CHECK = env.str("RELEVANCE_CHECK", default="tickets.relevance.says_something")
# Decision N14: a decision can be appealed for so long.
APPEAL_DAYS = env.int("APPEAL_DAYS", default=30)
# Decision N18: for how long an agent can take back what reaches a company.
UNDO_SECONDS = env.int("UNDO_SECONDS", default=10)
# Decision N40: what a company may write.
COMMENTS_PER_TICKET = env.int("COMMENTS_PER_TICKET", default=5_000)
TEXT_MIB_PER_DAY = env.int("TEXT_MIB_PER_DAY", default=64)
# Carrier and its page with {number} in it; one without has no link (shipments/carrier_pages.py).
CARRIER_PAGES = env.listed(
    "CARRIER_PAGES",
    lambda pair: tuple(each.strip() for each in pair.partition("=")[::2]),
    default=[],
    kind="a list of pairs such as Acme=https://acme.example/track/{number}",
)
# Decision T19: who hears of an incidence, in its transaction. Shipments do not know tickets.
INCIDENCE_RECORDED = "tickets.incidences.link_tickets"
# Who hears of a webhook that is resumed, in its transaction. Webhooks do not know deliveries.
WEBHOOK_RESUMED = "deliveries.redelivery.catch_up"
# Who knows behind which event the stream of a new webhook begins (decision N6).
NEWEST_EVENT_NUMBER = "deliveries.publishing.newest_number"
# Who hears of a company that is active again, in its transaction. Companies do not know webhooks.
COMPANY_RESUMED = "webhooks.services.resume_company"
