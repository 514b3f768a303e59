"""The list that a ticket was opened from, carried along as `?list=` and in forms.

It is the query string of the list, with the ticket's place in it. It is checked like any query
string: unknown parameters are dropped, and it gives access to nothing that its user may not see.
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
# Columns that a list can be sorted by: their names in the address, and the fields.
DEADLINES = {"due": "due_at", "filing": "filing_due_at"}
PARAMETERS = ("queue", "q", "o", "oldest", "p", *(one.parameter_name for one in FILTERS))


class ListPlace(NamedTuple):
    """A list, as its query string, and the key of a ticket in it; both may be ""."""

    query: str = ""
    at: str = ""

    @classmethod
    def read(cls, text: str) -> "ListPlace":
        query = QueryDict(text[:LONGEST])
        parameters = {
            name: ",".join(query.getlist(name)) if name in SEVERAL else query[name]
            for name in PARAMETERS
            if query.get(name)
        }
        if "o" in parameters:
            parameters["o"] = sorted_column(parameters["o"])
        return cls(urlencode(parameters), query.get("at", ""))

    @property
    def token(self) -> str:
        return "&".join(filter(None, (self.query, urlencode({"at": self.at}) if self.at else "")))

    @property
    def address(self) -> str:
        """URL of the list, at the ticket's row."""
        return f"{reverse(LIST)}?{self.token}" if self.token else reverse(LIST)

    def ticket_address(self, ticket_id: int) -> str:
        address = reverse(PAGE, args=[ticket_id])
        return f"{address}?{urlencode({'list': self.token})}" if self.token else address

    def moved(self, key: Key) -> "ListPlace":
        """Return the same list at another ticket; the list finds the page by the key."""
        query = QueryDict(self.query, mutable=True)
        query.pop("p", None)
        return ListPlace(query.urlencode(), keyset.write_key(key))


def sorted_column(order: str) -> str:
    """Return the name of the column that an address sorts by; "" if it names none."""
    name = order.removeprefix("-")
    return name if name in DEADLINES else ""


def list_place(request: HttpRequest) -> ListPlace:
    """Return the list that the page or the form of this request was opened from."""
    return ListPlace.read(request.POST.get("list", "") or request.GET.get("list", ""))


def this_list(request: HttpRequest) -> ListPlace:
    """Return the list that this request shows, at the same page."""
    return ListPlace.read(request.GET.urlencode())._replace(at="")


def dialog_place(request: HttpRequest) -> ListPlace:
    """Return the list that a dialog leads back to: the one it carries, or this request's own."""
    carries_list = "list" in request.POST or "list" in request.GET
    return list_place(request) if carries_list else this_list(request)


def stay(request: HttpRequest, ticket_id: int) -> HttpResponse:
    """Redirect to the page of this ticket, in the same list."""
    return redirect(list_place(request).ticket_address(ticket_id))


def back_to_list(request: HttpRequest) -> HttpResponse:
    """Redirect to the list that a dialog was opened from, at the same page of it."""
    return redirect(list_place(request).address)
