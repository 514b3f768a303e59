"""Actions on a storm: open, dismiss, close and answer it."""

from collections.abc import Callable
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext, gettext_lazy, gettext_noop
from unfold.widgets import UnfoldAdminTextareaWidget

from desk.common.fields import text_field
from desk.common.forms import LONGEST_TEXT
from desk.common.pages import desk_page
from desk.common.requests import StaffRequest
from desk.models import Storm
from desk.storms import replies, services
from tickets.changes.actors import NotAllowed

PAGE = "admin:desk_storm_change"
ANSWER = "desk.answer_storm"
MESSAGES = {
    Storm.State.OPEN: gettext_noop("Storm opened. Its tickets are linked, and new ones will be."),
    Storm.State.DISMISSED: gettext_noop("Storm dismissed."),
    Storm.State.CLOSED: gettext_noop("Storm closed."),
}


class OpenForm(forms.Form):
    title = text_field(
        gettext_lazy("Title"),
        200,
        gettext_lazy("What happened. Agents see it on each ticket."),
        required=True,
    )


class ReplyForm(forms.Form):
    key = forms.UUIDField(widget=forms.HiddenInput)
    text = forms.CharField(
        max_length=LONGEST_TEXT,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 5}),
        help_text=gettext_lazy("Sent to every company with an open ticket in this storm."),
    )


@desk_page(ANSWER, post_only=True)
def decide_page(request: StaffRequest, storm_id: int, to: str) -> HttpResponse:
    if to not in MESSAGES:
        raise Http404
    state = Storm.State(to)
    form = OpenForm(request.POST)
    form.is_valid()
    title = form.cleaned_data.get("title", "")

    def decide() -> str:
        services.decide(storm_id, state, user=request.user, title=title)
        return gettext(MESSAGES[state])

    return act_on_storm(request, storm_id, decide)


@desk_page(ANSWER, post_only=True)
def reply_page(request: StaffRequest, storm_id: int) -> HttpResponse:
    form = ReplyForm(request.POST)

    def reply() -> str:
        if not form.is_valid():
            raise services.StormRefused(gettext("Write something."))
        text, key = form.cleaned_data["text"], UUID(str(form.cleaned_data["key"]))
        storm_reply = replies.start_reply(storm_id, text, user=request.user, key=key)
        if storm_reply.finished_at:
            return f"{storm_reply}."
        return gettext("The reply is being sent. Its progress is shown below.")

    return act_on_storm(request, storm_id, reply)


def act_on_storm(request: StaffRequest, storm_id: int, act: Callable[[], str]) -> HttpResponse:
    """Run an action and redirect to the storm's page with its message."""
    try:
        messages.success(request, act())
    except NotAllowed as refusal:
        raise PermissionDenied from refusal
    except services.StormRefused as refusal:
        messages.error(request, str(refusal))
    except Storm.DoesNotExist as missing:
        raise Http404 from missing
    return redirect(PAGE, storm_id)
