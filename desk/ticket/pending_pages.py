"""Addresses of the bar with what can still be taken back, and what comes back of it.

Everything that writes is a POST, and of one's own.
"""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext

from core.values.ids import read_id
from desk.common.forms import AppealForm, WriteForm
from desk.common.pages import CHANGE_TICKET, VIEW_TICKET, desk_page
from desk.common.requests import StaffRequest, staff
from desk.ticket import leaving, pending
from desk.ticket.pending_bar import PendingGroup, bar_context
from tickets.changes.seen import Seen, seen_of
from tickets.models import PendingAnswer, Ticket

Kind = PendingAnswer.Kind
ACTS = ("undo", "send", "discard")


@desk_page(VIEW_TICKET)
def pending_bar(request: StaffRequest) -> HttpResponse:
    """The bar as it is now, for open pages."""
    return render(request, "desk/pending.html", bar_context(request))


@desk_page(CHANGE_TICKET, post_only=True)
def pending_act(request: StaffRequest, batch: UUID, act: str) -> HttpResponse:
    """Take back, send at once, or discard what came back."""
    mine = PendingAnswer.objects.filter(batch=batch, user=request.user)
    of_batch = PendingAnswer.objects.filter(batch=batch)
    if act not in ACTS or of_batch.exclude(user=request.user).exists():
        raise Http404
    if act == "undo":
        return undo(request, batch)
    if act == "discard":
        # The others of a batch stay in the boxes of their own tickets.
        mine.returned().filter(ticket=read_id(request.POST.get("ticket", ""))).forget()
        return back_to_bar(request)
    leaving.send_batch(request.user, batch)
    sent = not mine.exists()
    if "Desk-Bar" in request.headers:
        return render(request, "desk/pending.html", bar_context(request, sent=sent))
    if sent:
        messages.success(request, gettext("Sent to the company."))
    return back_to_bar(request)


def undo(request: StaffRequest, batch: UUID) -> HttpResponse:
    """To the page that has the words in its box, also of what was taken back before."""
    pending.take_back_batch(request.user, batch)
    mine = PendingAnswer.objects.filter(batch=batch, user=request.user).returned()
    if not (answers := list(mine.order_by("pk"))):
        messages.info(request, gettext("It had been sent already."))
        return back_to_bar(request)
    return redirect(PendingGroup(batch, answers).address)


def back_to_bar(request: HttpRequest) -> HttpResponse:
    """To the page that the bar was on."""
    here = request.POST.get("here", "")
    known = url_has_allowed_host_and_scheme(here, allowed_hosts=None)
    return redirect(here if known else "admin:index")


def returned_context(user: User, ticket: Ticket, *, fresh: bool) -> dict[str, Any]:
    """Return what others send to a ticket, and what came back for the boxes of a `fresh` page."""
    answers = pending.answers_of_ticket(ticket.pk)
    context: dict[str, Any] = {"awaited": pending.about_to_send(answers, user)}
    mine = [one for one in answers if one.user_id == user.pk and one.due_at is None]
    if not mine:
        return context
    context["back"] = found = mine[-1]
    if not fresh:
        return context
    context["had"] = Seen.read(found.seen)
    seen = str(seen_of(ticket))
    if found.kind in (Kind.ACCEPT, Kind.REFUSE):
        sent = {"decision": found.kind, "reason": found.text, "seen": seen}
        return {**context, "appeal_form": AppealForm(sent), "appeal_back": True}
    written: dict[str, Any] = {"text": found.text, "to": str(found.to or ""), "code": found.code}
    written |= {"seen": seen, "requested": found.requested, **(found.amounts or {})}
    if found.public:
        written["reply"] = "1"
    return {**context, "form": WriteForm(written)}


def returned_form(request: HttpRequest, to: int) -> QueryDict | None:
    """The form of a batch that came back, as its dialog would send it."""
    try:
        batch = UUID(request.GET.get("back", ""))
    except ValueError:
        return None
    mine = PendingAnswer.objects.returned().filter(batch=batch, user=staff(request), to=to)
    answers = list(mine.order_by("pk"))
    if not answers:
        return None
    first, sent = answers[0], QueryDict(mutable=True)
    sent.update({"back": str(batch), "reason": first.text, "code": first.code})
    sent.update(first.amounts or {})
    sent.setlist("requested", first.requested)
    sent.setlist("ticket", [str(one.ticket_id) for one in answers])
    sent.setlist("seen", [one.seen for one in answers])
    return sent
