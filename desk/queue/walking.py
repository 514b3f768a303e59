"""Navigation in the list that a ticket was opened from: its previous and next tickets."""

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

# Neighbours that a wide screen shows next to a ticket.
BEFORE, AFTER = 10, 25


class Neighbour(NamedTuple):
    """A ticket of the list, and its URL, which has its place in the list."""

    ticket_id: int
    address: str


class Walk(NamedTuple):
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
        """Return the ticket and its neighbours, each with its URL; True marks the ticket itself."""
        near = [*self.before, Neighbour(ticket.pk, self.here), *self.after]
        fields = ("company", "type")
        ids = [each.ticket_id for each in near if each.ticket_id != ticket.pk]
        tickets = {ticket.pk: ticket, **Ticket.objects.select_related(*fields).in_bulk(ids)}
        return [
            (tickets[each.ticket_id], each.address, each.ticket_id == ticket.pk)
            for each in near
            if each.ticket_id in tickets
        ]


def open_list(request: HttpRequest, query: str) -> OpenedList:
    """Return the list of a query string as this user may see it; no rows are read."""
    list_request = copy(request)
    list_request.method = "GET"
    vars(list_request).update(GET=QueryDict(query), desk_opened_list=True)
    # The cached terms belong to the query of this page, not to the list's.
    vars(list_request).pop("_desk_terms", None)
    return cast(OpenedList, ticket_list(list_request))


def walk(request: HttpRequest, ticket: Ticket, before: int = BEFORE, after: int = AFTER) -> Walk:
    """Return the list around a ticket, in one query besides those of the list's filters."""
    place = list_place(request)
    opened = open_list(request, place.query)
    order = opened.columns
    key = keyset.read_key(place.at, order) or keyset.ticket_key(ticket, order)
    place = place.moved(key)
    earlier, later = keyset.around(opened.queryset, order, key, before, after)

    def neighbours(keys: list[Key]) -> list[Neighbour]:
        ids = [(int(each[-1] or 0), each) for each in keys]
        return [
            Neighbour(ticket_id, place.moved(each).ticket_address(ticket_id))
            for ticket_id, each in ids
            # The ticket's key may have changed since: it must not be its own neighbour.
            if ticket_id != ticket.pk
        ]

    return Walk(ticket.pk, place, opened.title, neighbours(earlier), neighbours(later))


def open_next(request: HttpRequest, ticket: Ticket) -> HttpResponse:
    """Redirect to the next ticket of the list, or at its end to the list with a message.

    Tickets that have a pending answer are skipped.
    """
    around = walk(request, ticket, before=0)
    near = Ticket.objects.filter(pk__in=[neighbour.ticket_id for neighbour in around.after])
    free = set(near.unawaited().values_list("pk", flat=True))
    for neighbour in around.after:
        if neighbour.ticket_id in free:
            return redirect(neighbour.address)
    text = gettext("That was the last ticket of “%(list)s”.")
    messages.info(request, text % {"list": around.title})
    return redirect(around.place.address)
