"""The list that a ticket was opened from: it travels with the ticket, as `?list=` and in forms.

It is the query of the list's own address, with the ticket's place in it. Whatever it holds is
checked as an address is: what is unknown is left out, and nobody sees more than their own lists.
"""

from typing import NamedTuple
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse

from desk.queue import keyset
from desk.queue.filters import FILTERS, SEVERAL
from desk.queue.keyset import Key

LIST = "admin:tickets_ticket_changelist"
PAGE = "admin:tickets_ticket_change"
LONGEST = 500
# The columns that a list is sorted by, as its address names them.
DEADLINES = {"due": "due_at", "filing": "filing_due_at"}
KNOWN = ("queue", "q", "o", "oldest", "p", *(one.parameter_name for one in FILTERS))


class ListPlace(NamedTuple):
    """A list, as the query of its address, and where in it somebody is; both may be empty."""

    query: str = ""
    at: str = ""

    @classmethod
    def read(cls, text: str) -> "ListPlace":
        given = QueryDict(text[:LONGEST])
        known = {
            name: ",".join(given.getlist(name)) if name in SEVERAL else given[name]
            for name in KNOWN
            if given.get(name)
        }
        if "o" in known:
            known["o"] = sorted_column(known["o"])
        return cls(urlencode(known), given.get("at", ""))

    @property
    def token(self) -> str:
        return "&".join(filter(None, (self.query, urlencode({"at": self.at}) if self.at else "")))

    @property
    def address(self) -> str:
        """Of the list, at the row."""
        return f"{reverse(LIST)}?{self.token}" if self.token else reverse(LIST)

    def ticket_address(self, ticket_id: int) -> str:
        address = reverse(PAGE, args=[ticket_id])
        return f"{address}?{urlencode({'list': self.token})}" if self.token else address

    def moved(self, key: Key) -> "ListPlace":
        """The same list at another ticket; on which page that is, the list finds out."""
        query = QueryDict(self.query, mutable=True)
        query.pop("p", None)
        return ListPlace(query.urlencode(), keyset.write_key(key))


def sorted_column(order: str) -> str:
    """Return the name of the column that an address sorts by; "" where it names none."""
    name = order.removeprefix("-")
    return name if name in DEADLINES else ""


def list_place(request: HttpRequest) -> ListPlace:
    """The list that the page or the form of this request was opened from."""
    return ListPlace.read(request.POST.get("list", "") or request.GET.get("list", ""))


def this_list(request: HttpRequest) -> ListPlace:
    """The list whose own page this request is for, on the same page of it."""
    return ListPlace.read(request.GET.urlencode())._replace(at="")


def dialog_place(request: HttpRequest) -> ListPlace:
    """Where a dialog leads back to: what it says itself, or the list whose action opened it."""
    said = "list" in request.POST or "list" in request.GET
    return list_place(request) if said else this_list(request)


def stay(request: HttpRequest, ticket_id: int) -> HttpResponse:
    """To the page of this ticket, in the same list."""
    return redirect(list_place(request).ticket_address(ticket_id))


def back_to_list(request: HttpRequest) -> HttpResponse:
    """To the list that a dialog was opened from, at the same page of it."""
    return redirect(list_place(request).address)
