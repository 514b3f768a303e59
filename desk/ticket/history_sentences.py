"""The sentences of a ticket's history, in English, for `history_words` to translate and fill in."""

from collections.abc import Mapping

from django.utils.translation import gettext_noop

from tickets.assignment.picking import Standing
from tickets.history_codes import Kind, NotAssigned, NotMoved, Rule
from tickets.statuses import By

# Who is meant where the entry names nobody, or names a token.
ACTORS: Mapping[str, str] = {
    By.COMPANY: gettext_noop("The company"),
    By.SYSTEM: gettext_noop("The system"),
    By.AGENT: gettext_noop("An agent"),
    By.LEAD: gettext_noop("A lead"),
}
# The same after two statuses: "Pending to In review by the company".
MOVERS: Mapping[str, str] = {
    By.COMPANY: gettext_noop("the company"),
    By.SYSTEM: gettext_noop("the system"),
    By.AGENT: gettext_noop("an agent"),
    By.LEAD: gettext_noop("a lead"),
}
ROLES: Mapping[str, str] = {
    By.COMPANY: gettext_noop("company"),
    By.SYSTEM: gettext_noop("system"),
    By.AGENT: gettext_noop("agent"),
    By.LEAD: gettext_noop("lead"),
}
SENTENCES: Mapping[str, str] = {
    Kind.OPENED: gettext_noop("{actor} opened the ticket."),
    Kind.MOVED: gettext_noop("{actor} moved it from {was} to {now}."),
    Kind.DATA_CHANGED: gettext_noop("{actor} changed the variables. The status stayed {now}."),
    Kind.ASSIGNED: gettext_noop("Assigned automatically to {agent} (least busy)."),
    Kind.DOCUMENTS_REQUESTED: gettext_noop("{actor} requested documents: {documents}."),
    Kind.APPEALED: gettext_noop("{actor} appealed the decision."),
    Kind.FILE_ADDED: gettext_noop("{actor} added a file: {file}."),
    Kind.SNOOZED: gettext_noop("{actor} snoozed it. {until}."),
    Kind.WOKEN: gettext_noop("{actor} brought it back."),
    Kind.AMOUNTS_CHANGED: gettext_noop("{actor} changed the amounts: {amounts}."),
    Kind.CLAIM_FILE_TAKEN: gettext_noop("{actor} downloaded the claim file."),
    Kind.EVIDENCE_TAKEN: gettext_noop("{actor} downloaded the evidence."),
}
LEFT_UNASSIGNED = gettext_noop("Left unassigned.")
UNASSIGNED: Mapping[str, str] = {
    NotAssigned.NOBODY_AVAILABLE: gettext_noop(
        "Left unassigned: no agent for this ticket type is available."
    ),
    NotAssigned.ALL_AT_CAPACITY: gettext_noop(
        "Left unassigned: every available agent for this ticket type is at capacity."
    ),
    NotAssigned.LOCK_TIMEOUT: gettext_noop(
        "Left unassigned for now: other tickets were being assigned at that moment."
    ),
}
TOOK = gettext_noop("{agent} took the ticket.")
TAKEN: Mapping[str, str] = {
    Rule.MOST_URGENT: gettext_noop("{agent} took the ticket, the most urgent unassigned one."),
    Rule.AGENT_CHOICE: gettext_noop("{agent} chose the ticket and took it."),
}
DECIDED_APPEAL = gettext_noop("{actor} decided the appeal.")
APPEAL_DECIDED: Mapping[str, str] = {
    "accepted": gettext_noop("{actor} accepted the appeal."),
    "refused": gettext_noop("{actor} refused the appeal."),
}
OWN_APPEAL_DECIDED: Mapping[str, str] = {
    "accepted": gettext_noop("{actor}, the only lead, accepted the appeal of their own decision."),
    "refused": gettext_noop("{actor}, the only lead, refused the appeal of their own decision."),
}
NOT_MOVED = gettext_noop("{actor} asked for {asked}. The status stayed {now}.")
MOVE_REFUSED: Mapping[str, str] = {
    NotMoved.NOT_ALLOWED: gettext_noop("{actor} asked for {asked}, which cannot follow {now}."),
    NotMoved.NOTHING_NEW: gettext_noop("Not moved to {asked}: the message said nothing new."),
}
# By a lead: to another agent or automatically, from somebody or from nobody.
ASSIGNED_BY_LEAD = gettext_noop("{actor} assigned it to {agent}.")
ASSIGNED_OVER_CAPACITY = gettext_noop(
    "{actor} assigned it to {agent}, over capacity ({load} of {capacity})."
)
REASSIGNED = gettext_noop("{actor} reassigned it from {former} to {agent}.")
REASSIGNED_OVER_CAPACITY = gettext_noop(
    "{actor} reassigned it from {former} to {agent}, over capacity ({load} of {capacity})."
)
REASSIGNED_AUTOMATICALLY = gettext_noop(
    "Reassigned automatically by {actor} (was assigned to {former})."
)
ASSIGNED_AUTOMATICALLY = gettext_noop("Assigned automatically by {actor}.")
TAKEN_BACK = gettext_noop("Taken back from {former}, who is no longer active.")

STANDINGS: Mapping[str, str] = {
    Standing.AT_CAPACITY: gettext_noop("at capacity"),
    Standing.ASSIGNED_LATER: gettext_noop("as busy, assigned a ticket more recently"),
    Standing.BUSIER: gettext_noop("busier"),
}
CHOSEN = gettext_noop("assigned")
CHOSEN_BY: Mapping[str, str] = {
    Rule.LEAST_BUSY: gettext_noop("least busy"),
    Rule.MOST_URGENT: gettext_noop("took it"),
    Rule.AGENT_CHOICE: gettext_noop("took it"),
    Rule.LEAD_CHOICE: gettext_noop("chosen by a lead"),
}
