"""Places of tickets: their queues, agents and watchers, and the entries that put them there."""

from collections.abc import Iterable
from typing import NamedTuple

from desk.queue import queues
from tickets.history_codes import ASSIGNING, Kind
from tickets.models import Ticket, Watch

# Kinds of entries that bring a ticket into a queue; OTHERWISE for the other queues.
ENTERS = {
    "mine": ASSIGNING | {Kind.OPENED, Kind.WOKEN},
    "watched": frozenset({Kind.OPENED}),
    "open": frozenset({Kind.OPENED}),
    "escalated": frozenset({Kind.ESCALATED}),
    "to-file": frozenset({Kind.OPENED}),
    "everyone": ASSIGNING | {Kind.OPENED},
    "everything": frozenset({Kind.OPENED}),
    "appeals": frozenset({Kind.APPEALED}),
}
OTHERWISE = ASSIGNING | {Kind.OPENED, Kind.MOVED}


def brings_into(queue: str, kinds: Iterable[str]) -> bool:
    """Check if one of these entries may have brought a ticket into its queue."""
    return not ENTERS.get(queue, OTHERWISE).isdisjoint(kinds)


class TicketPlace(NamedTuple):
    """A ticket's current queues (those that are the same for all users), agent and watchers."""

    queues: frozenset[str]
    agent: int | None
    watchers: frozenset[int]

    def is_in(self, queue: str, me: int | None) -> bool:
        if queue == "mine":
            return me is not None and self.agent == me and "open" in self.queues
        if queue == "watched":
            return me in self.watchers and "open" in self.queues
        return queue in self.queues

    def is_of(self, me: int | None) -> bool:
        return me is not None and (self.agent == me or me in self.watchers)


def places_of(ticket_ids: list[int]) -> dict[int, TicketPlace]:
    """Return the places of tickets by id, by the queues' own conditions, without deleted ones."""
    if not ticket_ids:
        return {}
    mine = Ticket.objects.filter(pk__in=ticket_ids)
    agents = dict(mine.values_list("pk", "agent_id"))
    slugs: dict[int, set[str]] = {pk: set() for pk in agents}
    for slug, pk in queues.queue_members(list(agents)):
        slugs[pk].add(slug)
    watchers: dict[int, set[int]] = {pk: set() for pk in agents}
    for pk, agent in watching(agents):
        watchers[pk].add(agent)
    return {
        pk: TicketPlace(frozenset(slugs[pk]), agent, frozenset(watchers[pk]))
        for pk, agent in agents.items()
    }


def watching(ticket_ids: Iterable[int]) -> list[tuple[int, int]]:
    rows = Watch.objects.filter(ticket__in=list(ticket_ids))
    return list(rows.values_list("ticket_id", "agent_id"))
