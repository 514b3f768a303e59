"""The list that a ticket was opened from, walked: what comes before the ticket and after it."""

from copy import copy
from typing import NamedTuple, cast
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils.translation import gettext

from desk.queue import keyset
from desk.queue.changelist import OpenedList, ticket_list
from desk.queue.keyset import Key
from desk.queue.places import ListPlace, list_place
from tickets.models import Ticket

# What stands beside a ticket on a wide screen.
BEFORE, AFTER = 10, 25


class Neighbour(NamedTuple):
    """A ticket of the list, and its address, which says where in the list it is."""

    ticket_id: int
    address: str


class Walk(NamedTuple):
    """A list around one ticket."""

    ticket_id: int
    place: ListPlace
    title: str
    before: list[Neighbour]
    after: list[Neighbour]

    @property
    def previous(self) -> Neighbour | None:
        return self.before[-1] if self.before else None

    @property
    def next(self) -> Neighbour | None:
        return self.after[0] if self.after else None

    @property
    def here(self) -> str:
        return self.place.ticket_address(self.ticket_id)

    @property
    def suffix(self) -> str:
        return f"&{urlencode({'list': self.place.token})}"

    def rows(self, ticket: Ticket) -> list[tuple[Ticket, str, bool]]:
        """The ticket among its neighbours: each with its address, and whether it is the one."""
        near = [*self.before, Neighbour(ticket.pk, self.here), *self.after]
        fields = ("company", "type")
        ids = [one.ticket_id for one in near if one.ticket_id != ticket.pk]
        found = {ticket.pk: ticket, **Ticket.objects.select_related(*fields).in_bulk(ids)}
        return [
            (found[one.ticket_id], one.address, one.ticket_id == ticket.pk)
            for one in near
            if one.ticket_id in found
        ]


def open_list(request: HttpRequest, query: str) -> OpenedList:
    """The list of that address, as this person may see it; no row of it is read."""
    asked = copy(request)
    asked.method = "GET"
    vars(asked).update(GET=QueryDict(query), desk_opened_list=True)
    # The words that this page itself searches for are another list's.
    vars(asked).pop("_desk_terms", None)
    return cast(OpenedList, ticket_list(asked))


def walk(request: HttpRequest, ticket: Ticket, before: int = BEFORE, after: int = AFTER) -> Walk:
    """The list around a ticket: one query, and those that the list's own filters need."""
    place = list_place(request)
    opened = open_list(request, place.query)
    order = opened.columns
    key = keyset.read_key(place.at, order) or keyset.ticket_key(ticket, order)
    place = place.moved(key)
    earlier, later = keyset.around(opened.queryset, order, key, before, after)

    def neighbours(keys: list[Key]) -> list[Neighbour]:
        ids = [(int(one[-1] or 0), one) for one in keys]
        return [
            Neighbour(ticket_id, place.moved(one).ticket_address(ticket_id))
            for ticket_id, one in ids
            # Its key may have changed since: it is not its own neighbour.
            if ticket_id != ticket.pk
        ]

    return Walk(ticket.pk, place, opened.title, neighbours(earlier), neighbours(later))


def open_next(request: HttpRequest, ticket: Ticket) -> HttpResponse:
    """To the next ticket of the list; at its end to the list, and say so.

    Those that an answer waits for are passed over.
    """
    found = walk(request, ticket, before=0)
    near = Ticket.objects.filter(pk__in=[one.ticket_id for one in found.after])
    free = set(near.unawaited().values_list("pk", flat=True))
    for one in found.after:
        if one.ticket_id in free:
            return redirect(one.address)
    text = gettext("That was the last ticket of “%(list)s”.")
    messages.info(request, text % {"list": found.title})
    return redirect(found.place.address)
