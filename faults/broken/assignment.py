"""Who gets a ticket, who may do what to it, and when it is due."""

from faults.broken import Mutant

ACTORS = "tickets/changes/actors.py"
AGENTS = "tickets/models/agents.py"
PICKING = "tickets/assignment/picking.py"
REASSIGNING = "tickets/assignment/reassigning.py"
TAKING = "tickets/assignment/taking.py"
WORKING = "tickets/working.py"

ASSIGNMENT = (
    Mutant(
        "agents-not-locked",
        "tickets/assignment/automatic.py",
        '.select_for_update(of=("self",), no_key=True)',
        "",
        "Tickets that come at once all go to one agent.",
    ),
    Mutant(
        "whose-turn-by-id",
        PICKING,
        "return share, one.last_assigned_at is not None, one.last_assigned_at, one.agent_id",
        "return share, one.agent_id",
        "Among equals always the same agent.",
    ),
    Mutant(
        "capacity-does-not-count",
        PICKING,
        "    share = one.load / one.capacity if one.capacity else 1.0\n",
        "    share = float(one.load)\n",
        "Who works half the time gets as much as the others.",
    ),
    Mutant(
        "one-beyond-capacity",
        PICKING,
        "if one.load < one.capacity)",
        "if one.load <= one.capacity)",
        "Each agent gets one ticket too many.",
    ),
    Mutant(
        "everybody-is-a-lead",
        ACTORS,
        'by = By.LEAD if user.has_perm("tickets.reopen_ticket") else By.AGENT',
        "by = By.LEAD",
        "Any agent undoes any decision.",
    ),
    Mutant(
        "whoever-signs-in-works",
        ACTORS,
        'if not user.is_active or not user.has_perm("tickets.change_ticket"):',
        "if not user.is_active:",
        "An auditor decides tickets.",
    ),
    Mutant(
        "whoever-signs-in-assigns",
        REASSIGNING,
        'if not user.is_active or not user.has_perm("tickets.assign_ticket"):',
        "if not user.is_active:",
        "An agent gives away what they do not like.",
    ),
    Mutant(
        "looks-before-it-holds",
        WORKING,
        "    ticket = Ticket.objects.hold(ticket_id)\n    require_read(ticket, seen, user)\n",
        "    require_read(Ticket.objects.get(pk=ticket_id), seen, user)\n"
        "    ticket = Ticket.objects.hold(ticket_id)\n",
        "An agent decides on what came while they waited for the ticket.",
    ),
    Mutant(
        "stale-page-takes",
        TAKING,
        "    require_read(ticket, seen, user)\n",
        "",
        "An agent takes a ticket that has become another matter.",
    ),
    Mutant(
        "stale-page-reassigns",
        REASSIGNING,
        "    require_read(ticket, seen, user)\n",
        "",
        "A lead gives away a ticket that has just been given to somebody.",
    ),
    Mutant(
        "reassigned-to-who-had-it",
        REASSIGNING,
        "automatic.assign(ticket, excluding=had.pk if had else None)",
        "automatic.assign(ticket)",
        "What a lead takes away from somebody comes back at once.",
    ),
    Mutant(
        "given-to-who-has-left",
        REASSIGNING,
        "Agent.objects.filter(pk=to.pk, user__is_active=True)",
        "Agent.objects.filter(pk=to.pk)",
        "A ticket waits for somebody who does not come back.",
    ),
    Mutant(
        "takes-what-somebody-has",
        TAKING,
        "    if ticket.agent is not None:\n",
        "    if ticket.agent == agent:\n",
        "Two agents answer one company.",
    ),
    Mutant(
        "takes-without-the-skill",
        TAKING,
        "        waiting = waiting.filter(type__in=skills)\n",
        "        pass\n",
        "An agent gets tickets that they cannot answer.",
    ),
    Mutant(
        "any-move-goes",
        "tickets/changes/writes.py",
        "if not allows(was, to, actor.by):",
        "if was == to:",
        "Tickets move where nobody expects them.",
    ),
    Mutant(
        "note-counts-as-an-answer",
        "tickets/changes/writes.py",
        "    if public:\n        ticket.updated_at = now",
        "    if ticket:\n        ticket.updated_at = now",
        "A company that waits for an answer has had one, says its clock.",
    ),
    Mutant(
        "all-history-is-public",
        "tickets/changes/history.py",
        "public = kind in PUBLIC",
        "public = kind is not None",
        "A company reads who was given its ticket, and why.",
    ),
    Mutant(
        "shift-until-midnight-never-is",
        AGENTS,
        "            Q(ends__gt=time_there(zone, at)) | Q(ends=time(0)),\n",
        "            Q(ends__gt=time_there(zone, at)),\n",
        "The late shift gets no tickets.",
    ),
    Mutant(
        "absence-ignored",
        AGENTS,
        "            ~Exists(absences),\n",
        "",
        "Tickets wait for who is on holiday.",
    ),
    Mutant(
        "no-skills-is-nothing",
        AGENTS,
        "~Exists(chosen) | Exists(chosen.filter(tickettype=type_id))",
        "Exists(chosen.filter(tickettype=type_id))",
        "Agents without chosen types get nothing.",
    ),
    Mutant(
        "holidays-are-worked",
        "tickets/sla/calendars.py",
        "        if day in calendar.holidays:\n",
        "        if day in calendar.months:\n",
        "What comes before a holiday is overdue after it.",
    ),
    Mutant(
        "anybody-sends-anybody-home",
        "tickets/agents.py",
        "(agent.user_id != user.pk and not user.has_perm(CHANGE))",
        "not agent.user_id",
        "An agent sends the others home.",
    ),
    Mutant(
        "agents-pause-webhooks",
        "tickets/roles.py",
        '    "deliveries.view_attempt",\n    "deliveries.send_again",\n}\nLEAD',
        '    "deliveries.view_attempt",\n    "deliveries.send_again",\n'
        '    "webhooks.pause_webhook",\n}\nLEAD',
        "Any agent stops a company's events.",
    ),
)
