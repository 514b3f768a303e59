"""Pages of the bar with answers that can be undone, and the forms that undone answers refill.

Whatever writes is a POST, and only on the user's own answers.
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
from tickets.changes.page_tokens import PageToken, page_token_of
from tickets.models import PendingAnswer, Ticket

Kind = PendingAnswer.Kind
ACTS = ("undo", "send", "discard")


@desk_page(VIEW_TICKET)
def pending_bar(request: StaffRequest) -> HttpResponse:
    return render(request, "desk/pending.html", bar_context(request))


@desk_page(CHANGE_TICKET, post_only=True)
def pending_act(request: StaffRequest, batch: UUID, act: str) -> HttpResponse:
    """Undo a batch, send it at once, or discard what was returned of it."""
    mine = PendingAnswer.objects.filter(batch=batch, user=request.user)
    of_batch = PendingAnswer.objects.filter(batch=batch)
    if act not in ACTS or of_batch.exclude(user=request.user).exists():
        raise Http404
    if act == "undo":
        return undo(request, batch)
    if act == "discard":
        # Answers of the batch to other tickets stay in the forms of those.
        mine.returned().filter(ticket=read_id(request.POST.get("ticket", ""))).forget()
        return back_to_bar(request)
    leaving.send_batch(request.user, batch)
    all_sent = not mine.exists()
    if "Desk-Bar" in request.headers:
        return render(request, "desk/pending.html", bar_context(request, all_sent=all_sent))
    if all_sent:
        messages.success(request, gettext("Sent to the company."))
    return back_to_bar(request)


def undo(request: StaffRequest, batch: UUID) -> HttpResponse:
    """Undo a batch, and redirect to the page whose form has its text; a repeat does the same."""
    pending.take_back_batch(request.user, batch)
    mine = PendingAnswer.objects.filter(batch=batch, user=request.user).returned()
    if not (answers := list(mine.order_by("pk"))):
        messages.info(request, gettext("It had been sent already."))
        return back_to_bar(request)
    return redirect(PendingGroup(batch, answers).address)


def back_to_bar(request: HttpRequest) -> HttpResponse:
    here = request.POST.get("here", "")
    is_safe = url_has_allowed_host_and_scheme(here, allowed_hosts=None)
    return redirect(here if is_safe else "admin:index")


def returned_context(user: User, ticket: Ticket, *, fresh: bool) -> dict[str, Any]:
    """Build the context of others' waiting answers and, on a `fresh` page, forms to refill."""
    answers = pending.answers_of_ticket(ticket.pk)
    context: dict[str, Any] = {"awaited": pending.about_to_send(answers, user)}
    mine = [one for one in answers if one.user_id == user.pk and one.due_at is None]
    if not mine:
        return context
    context["back"] = returned = mine[-1]
    if not fresh:
        return context
    context["token"] = PageToken.read(returned.seen)
    data: dict[str, Any] = {"seen": str(page_token_of(ticket))}
    if returned.kind in (Kind.ACCEPT, Kind.REFUSE):
        data |= {"decision": returned.kind, "reason": returned.text}
        return {**context, "appeal_form": AppealForm(data), "appeal_back": True}
    data |= {"text": returned.text, "to": str(returned.to or ""), "code": returned.code}
    data |= {"requested": returned.requested, **(returned.amounts or {})}
    if returned.public:
        data["reply"] = "1"
    return {**context, "form": WriteForm(data)}


def returned_form(request: HttpRequest, to: int) -> QueryDict | None:
    """Rebuild the form data of a batch that was undone or held; None if there is none."""
    try:
        batch = UUID(request.GET.get("back", ""))
    except ValueError:
        return None
    mine = PendingAnswer.objects.returned().filter(batch=batch, user=staff(request), to=to)
    answers = list(mine.order_by("pk"))
    if not answers:
        return None
    first = answers[0]
    data = QueryDict(mutable=True)
    data.update({"back": str(batch), "reason": first.text, "code": first.code})
    data.update(first.amounts or {})
    data.setlist("requested", first.requested)
    data.setlist("ticket", [str(one.ticket_id) for one in answers])
    data.setlist("seen", [one.seen for one in answers])
    return data
