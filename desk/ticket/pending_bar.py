"""The bar with answers that can still be undone, on every page of the desk."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import QuerySet, Value
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from desk.common.requests import staff
from tickets.models import PendingAnswer

# Attribute of a request that has already found nothing for the bar.
NOTHING_WAITS = "_nothing_waits"


@dataclass(frozen=True, slots=True)
class PendingGroup:
    """The answers of one form that wait, or that were held."""

    batch: UUID
    answers: Sequence[PendingAnswer]

    @property
    def waits(self) -> bool:
        return self.answers[0].due_at is not None

    @property
    def seconds_left(self) -> float:
        """Seconds until the first of them is sent."""
        due = min(one.due_at for one in self.answers if one.due_at)
        return max(0.0, (due - timezone.now()).total_seconds())

    @property
    def words(self) -> str:
        return act_title(str(self.answers[0]), [one.ticket_id for one in self.answers])

    @property
    def reason(self) -> str:
        return self.answers[0].held

    @property
    def address(self) -> str:
        """URL of the page with the form that has their text."""
        first = self.answers[0]
        if len(self.answers) == 1:
            return reverse("admin:tickets_ticket_change", args=[first.ticket_id])
        return f"{reverse('admin:tickets_ticket_move', args=[first.to])}?back={self.batch}"


def act_title(what: str, ticket_ids: Sequence[int]) -> str:
    """Return a title such as "Accept: ticket 12" or "Accept: 3 tickets"."""
    if len(ticket_ids) == 1:
        return gettext("%(verb)s: ticket %(ticket)s") % {"verb": what, "ticket": ticket_ids[0]}
    text = ngettext("%(verb)s: %(count)d ticket", "%(verb)s: %(count)d tickets", len(ticket_ids))
    return text % {"verb": what, "count": len(ticket_ids)}


def groups_of(answers: Iterable[PendingAnswer]) -> list[PendingGroup]:
    groups: dict[tuple[UUID, bool], list[PendingAnswer]] = {}
    for one in answers:
        groups.setdefault((one.batch, one.due_at is None), []).append(one)
    return [PendingGroup(batch, rows) for (batch, _), rows in groups.items()]


def of_bar(request: HttpRequest) -> QuerySet[PendingAnswer]:
    return PendingAnswer.objects.filter(user=staff(request)).exclude(due_at=None, held="")


def bar_row(request: HttpRequest) -> QuerySet[Any, Any]:
    """Build a query for one row of the bar, to be joined with others by a union."""
    rows = of_bar(request).annotate(waits=Value(True)).order_by("pk")
    return rows.values_list("due_at", "waits")[:1]


def bar_context(request: HttpRequest, *, all_sent: bool = False) -> dict[str, Any]:
    """Build the bar with the user's waiting and held answers; hidden if they may send none."""
    if not request.user.has_perm("tickets.change_ticket"):
        return {"shown": False}
    here = request.get_full_path() if request.method == "GET" else ""
    nothing = vars(request).get(NOTHING_WAITS, False)
    groups = [] if nothing else groups_of(of_bar(request).order_by("pk"))
    return {"shown": True, "groups": groups, "here": here, "sent": all_sent}
