"""What companies are shown of tickets, and what may be done to them."""

from faults.broken import Mutant
from faults.broken.assignment import ASSIGNMENT

CHANGING = "tickets/updating.py"
INCIDENCES = "tickets/incidences.py"
OPENING = "tickets/opening.py"
QUERIES = "tickets/api/queries.py"
NEWS = "tickets/changes/news.py"
SHOWN = "tickets/changes/shown.py"
STATUSES = "tickets/statuses.py"

TICKETS = (
    *ASSIGNMENT,
    Mutant(
        "list-of-every-company",
        QUERIES,
        "found = company.tickets.newest()",
        "found = Ticket.objects.newest()",
        "A company reads everybody's tickets.",
    ),
    Mutant(
        "ticket-of-another-company",
        QUERIES,
        "related(company.tickets.all())",
        "related(Ticket.objects.all())",
        "Whoever guesses an id reads another company's ticket.",
    ),
    Mutant(
        "comments-of-another-company",
        "tickets/api/conversation.py",
        'ticket = company.tickets.only("pk")',
        'ticket = company.tickets.model.objects.only("pk")',
        "Whoever guesses an id reads another company's comments.",
    ),
    Mutant(
        "cursor-of-another-company",
        QUERIES,
        "last = company.tickets.filter(pk=ticket_id).first()",
        "last = Ticket.objects.filter(pk=ticket_id).first()",
        "A cursor tells that another company's ticket exists, and when it was opened.",
    ),
    Mutant(
        "notes-among-the-comments",
        "tickets/api/page_bounds.py",
        "WHERE ticket_id = %(ticket)s::bigint AND public AND",
        "WHERE ticket_id = %(ticket)s::bigint AND",
        "A company reads what agents say among themselves.",
    ),
    Mutant(
        "notes-in-the-list",
        "tickets/api/page_bounds.py",
        "WHERE ticket_id = wanted.id AND public\n",
        "WHERE ticket_id = wanted.id\n",
        "A company reads what agents say among themselves.",
    ),
    Mutant(
        "agents-files-in-the-list",
        QUERIES,
        "TicketFile.objects.filter(ticket__in=tickets, public=True)",
        "TicketFile.objects.filter(ticket__in=tickets)",
        "A company gets the files that agents keep among themselves.",
    ),
    Mutant(
        "history-that-is-not-public",
        QUERIES,
        "ticket.history.filter(public=True)",
        "ticket.history.all()",
        "A company reads who was given its ticket.",
    ),
    Mutant(
        "shipment-of-another-company",
        QUERIES,
        "Shipment.objects.filter(company=company).in_bulk(",
        "Shipment.objects.in_bulk(",
        "A company that names another's shipment reads its tracking number.",
    ),
    Mutant(
        "last-day-left-out",
        QUERIES,
        'datetime.combine(query.get("date_to", date.max), time.max, UTC)',
        'datetime.combine(query.get("date_to", date.max), time.min, UTC)',
        "The last day of a period is missing from its list.",
    ),
    Mutant(
        "cursor-skips",
        QUERIES,
        "str(tickets[-1].pk) if tickets and",
        "str(tickets[0].pk) if tickets and",
        "Whoever follows the cursor gets the same tickets again and again.",
    ),
    Mutant(
        "agents-have-names",
        SHOWN,
        '"created_by_name": company_name if comment.by == By.COMPANY else DESK',
        '"created_by_name": company_name if comment.by == By.COMPANY else comment.actor',
        "A company learns an agent's user name.",
    ),
    Mutant(
        "leads-are-told-apart",
        SHOWN,
        "By.AGENT.value if by == By.LEAD else By(by).value",
        "By(by).value",
        "History has an actor that is documented nowhere.",
    ),
    Mutant(
        "look-without-a-lock",
        OPENING,
        "    hold_shipment(company.pk, shipment_id)\n",
        "",
        "Of two requests at once both open a ticket.",
    ),
    Mutant(
        "anothers-ticket-blocks",
        OPENING,
        "Ticket.objects.blocking(type_id, shipment).filter(company=company)",
        "Ticket.objects.blocking(type_id, shipment).filter(company__gte=company * 0)",
        "A company cannot open a ticket because another has one, whose id it is told.",
    ),
    Mutant(
        "retired-type-opens",
        OPENING,
        "if not found.active:",
        "if not found.pk:",
        "Tickets of a type that nobody works on any more.",
    ),
    Mutant(
        "moves-anothers-ticket",
        CHANGING,
        "company.tickets.hold(ticket_id)\n    was = ",
        "Ticket.objects.hold(ticket_id)\n    was = ",
        "A company moves another's ticket.",
    ),
    Mutant(
        "comments-on-anothers-ticket",
        CHANGING,
        "company.tickets.hold(ticket_id)\n    if ticket.status in TERMINAL:",
        "Ticket.objects.hold(ticket_id)\n    if ticket.status in TERMINAL:",
        "A company writes on another's ticket.",
    ),
    Mutant(
        "rates-anothers-ticket",
        CHANGING,
        "company.tickets.hold(ticket_id)\n    if ticket.status not in TERMINAL:",
        "Ticket.objects.hold(ticket_id)\n    if ticket.status not in TERMINAL:",
        "A company rates another's ticket.",
    ),
    Mutant(
        "notes-are-told",
        "tickets/changes/writes.py",
        """    if public:
        ticket.updated_at = now
        due = [] if actor.by == By.COMPANY else due_dates.update_after_answer(ticket, now)
        ticket.save(update_fields=["updated_at", *due])
        news""",
        """    if public:
        ticket.updated_at = now
        due = [] if actor.by == By.COMPANY else due_dates.update_after_answer(ticket, now)
        ticket.save(update_fields=["updated_at", *due])
    if True:
        news""",
        "A company reads what agents write to each other.",
    ),
    Mutant(
        "requests-are-told-twice",
        NEWS,
        "if (known := noted.get(ticket.pk)) is not None:",
        "if (known := noted.pop(ticket.pk, None)) is not None and tell_news() is not None:",
        "A move that brings a comment is told without it.",
    ),
    Mutant(
        "the-last-write-is-told",
        NEWS,
        "weightiest = min(first.change, change, key=list(TicketChange).index)",
        "weightiest = change",
        "A move with a comment is told as a reply.",
    ),
    Mutant(
        "times-of-news-stand-still",
        NEWS,
        'ticket.save(update_fields=["last_event_at"])',
        "pass",
        "Two events of a ticket have one time: receivers cannot sort them.",
    ),
    Mutant(
        "news-of-tickets-has-no-order",
        NEWS,
        "        ticket_id=ticket.pk,\n",
        "",
        "A ticket is Accepted before it is In review, at the receiver.",
    ),
    Mutant(
        "tracking-number-of-another-company",
        "tickets/changes/ticket_updated.py",
        "Shipment.objects.filter(pk=ticket.shipment_id, company=ticket.company_id)",
        "Shipment.objects.filter(pk=ticket.shipment_id)",
        "Whoever guesses the id of a shipment is sent its tracking number.",
    ),
    Mutant(
        "thanks-reopens",
        "tickets/relevance.py",
        "any(word not in usual for word in words)",
        "bool(words)",
        "Every thank-you comes back to an agent.",
    ),
    Mutant(
        "incidence-of-another-company",
        INCIDENCES,
        "shipment=shipment, shipment__company=company, open=True",
        "shipment=shipment, shipment__company__gte=company * 0, open=True",
        "A ticket is linked to what happened to another company's parcel.",
    ),
    Mutant(
        "incidence-of-any-kind",
        INCIDENCES,
        'Q(kind="") | Q(kind=kind)',
        'Q(kind="") | ~Q(kind=kind) | Q(kind=kind)',
        "A ticket about a delay is linked to damage.",
    ),
    Mutant(
        "links-tickets-of-another-company",
        INCIDENCES,
        "        company=incidence.shipment.company_id, shipment_id=incidence.shipment_id\n",
        "        shipment_id=incidence.shipment_id\n",
        "Another company's ticket that names the number is linked to our parcel.",
    ),
    Mutant(
        "declined-no-longer-blocks",
        STATUSES,
        "blocks_duplicate=True,\n            system_from=",
        "system_from=",
        "What was declined is simply asked for again.",
    ),
    Mutant(
        "agents-reopen",
        STATUSES,
        'move=AgentMove(verb="Review", key="v", leads_from',
        'move=AgentMove(verb="Review", key="v", agents_from=From.ANYWHERE, leads_from',
        "Any agent undoes any decision.",
    ),
    Mutant(
        "script-is-a-web-address",
        "tickets/rules.py",
        'parts.scheme in ("http", "https") and bool(parts.hostname)',
        "bool(parts.scheme)",
        "An agent who clicks on a document runs the company's script.",
    ),
)
