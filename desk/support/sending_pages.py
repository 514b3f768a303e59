"""Pages for operators: the queue, holds and drains.

Each action has its own page, which says what it does and asks once, so it works without scripts.
"""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.conf import settings
from django.contrib import messages
from django.db import DatabaseError, connection, transaction
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils.translation import gettext, ngettext

from deliveries.engine import holding, proxy_check
from deliveries.models import HeldHost
from deliveries.monitoring import queue_picture
from deliveries.monitoring.queue_picture import WaitingGroup
from desk.common.pages import desk_page, draw
from desk.common.requests import StaffRequest
from desk.support import sending_acts
from desk.support.sending_forms import DrainForm, HoldForm, ReleaseForm
from webhooks.outgoing import parse_proxy

PAGE = "admin:webhooks_webhook_sending"
HOSTS_SHOWN = 10
# The page goes without the queue's totals before reading them becomes a load of its own.
STATEMENT_TIMEOUT = "5s"


@dataclass
class HostLine:
    """Deliveries that wait for a host. `target` is its name without the port, "" without a host."""

    waiting: WaitingGroup
    target: str
    is_held: bool


@desk_page(sending_acts.SEE)
def sending_page(request: StaffRequest) -> HttpResponse:
    holds = holding.held_hosts()
    return draw(
        request,
        "admin/webhooks/webhook/sending.html",
        gettext("Sending"),
        may_stop=request.user.has_perm(sending_acts.STOP),
        drain=holding.current_drain(),
        wanted=settings.DELIVERY_LOOPS,
        proxy=proxy_status(),
        **queue_status(holds),
    )


@desk_page(sending_acts.STOP)
def hold_page(request: StaffRequest) -> HttpResponse:
    words = [
        gettext(
            "Nothing more is sent to the host. What is in flight ends; deliveries wait in order"
            " and use up no retry."
        )
    ]
    form = HoldForm(posted_form(request), initial={"host": request.GET.get("host", "")})
    if not is_confirmed(request, form):
        title, verb = gettext("Hold a host"), gettext("Hold")
        return draw_confirmation(request, title, verb, words, form)
    hold = sending_acts.hold_at_desk(user=request.user, **form.cleaned_data)
    count = len(holding.webhooks_on([hold.host]))
    text = ngettext(
        "%(host)s is held: %(count)d webhook.", "%(host)s is held: %(count)d webhooks.", count
    )
    if not count:
        text = gettext("%(host)s is held. No webhook has a URL there: check the name.")
    (messages.success if count else messages.warning)(
        request, text % {"host": hold.host, "count": count}
    )
    return redirect(PAGE)


@desk_page(sending_acts.STOP)
def release_page(request: StaffRequest) -> HttpResponse:
    form = ReleaseForm(posted_form(request) or {"host": request.GET.get("host", "")})
    host = form.data.get("host", "")
    if not is_confirmed(request, form):
        words = [
            gettext("What waits for %(host)s is sent, in order, as fast as its receivers take it.")
            % {"host": host}
        ]
        title, verb = gettext("Release %(host)s") % {"host": host}, gettext("Release")
        return draw_confirmation(request, title, verb, words, form)
    try:
        released = sending_acts.release_at_desk(host, user=request.user)
    except holding.InvalidHost:
        released = False
    text = gettext("%(host)s is released.") if released else gettext("%(host)s was not held.")
    (messages.success if released else messages.warning)(request, text % {"host": host})
    return redirect(PAGE)


@desk_page(sending_acts.STOP)
def drain_page(request: StaffRequest) -> HttpResponse:
    form = DrainForm(posted_form(request))
    if not is_confirmed(request, form):
        words = [
            gettext("Nothing is sent to anybody until somebody resumes."),
            gettext("What is in flight ends. New events are stored and wait, in order."),
        ]
        return draw_confirmation(
            request, gettext("Drain all sending"), gettext("Drain"), words, form
        )
    sending_acts.drain_at_desk(user=request.user, reason=form.cleaned_data["reason"])
    messages.success(request, gettext("Drained: nothing more is sent."))
    return redirect(PAGE)


@desk_page(sending_acts.STOP)
def resume_page(request: StaffRequest) -> HttpResponse:
    form = forms.Form(posted_form(request))
    if not is_confirmed(request, form):
        words = [gettext("Everything that waits is sent, in order.")]
        title, verb = gettext("Resume sending"), gettext("Resume")
        return draw_confirmation(request, title, verb, words, form)
    if sending_acts.resume_at_desk(user=request.user):
        messages.success(request, gettext("Sending goes on."))
    else:
        messages.warning(request, gettext("Nothing was drained."))
    return redirect(PAGE)


def is_confirmed(request: StaffRequest, form: forms.Form) -> bool:
    """Check if a valid form was posted."""
    return request.method == "POST" and form.is_valid()


def draw_confirmation(
    request: HttpRequest, title: str, verb: str, words: list[str], form: forms.Form
) -> HttpResponse:
    template = "admin/webhooks/webhook/sending_act.html"
    status = 400 if request.method == "POST" else 200
    return draw(request, template, title, status=status, verb=verb, words=words, form=form)


def posted_form(request: HttpRequest) -> QueryDict | None:
    """Return the data of a posted form, which may be empty; None if nothing was posted."""
    return request.POST if request.method == "POST" else None


def proxy_status() -> dict[str, Any] | None:
    """Describe the outgoing proxy without its login, and its problem; None without a proxy."""
    proxy, trouble = parse_proxy(settings.DELIVERY_PROXY), ""
    try:
        proxy_check.proxy_status()
    except RuntimeError as error:
        trouble = str(error)
    if proxy is None and not trouble:
        return None
    return {"at": proxy.at(proxy.host) if proxy else "", "trouble": trouble}


def queue_status(holds: list[HeldHost]) -> dict[str, Any]:
    """Read the queue's totals, and what waits for each held host.

    Leaves out both if they take longer than STATEMENT_TIMEOUT: the page's buttons are needed
    most at such a time.
    """
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT set_config('statement_timeout', %s, true)", [STATEMENT_TIMEOUT]
                )
            totals = queue_picture.queue_totals()
            longest = queue_picture.oldest_waiting("host", HOSTS_SHOWN)
            waiting = queue_picture.waiting_of(holding.webhooks_on([hold.host for hold in holds]))
    except DatabaseError:
        return {"holds": [(hold, None) for hold in holds]}
    hosts = {hold.host for hold in holds}
    lines = [(group, urlsplit(f"//{group.name}").hostname or "") for group in longest]
    return {
        "totals": totals,
        "oldest": longest[0].oldest if longest else None,
        "longest": [
            HostLine(group, "" if group.name == queue_picture.FETCHED else host, host in hosts)
            for group, host in lines
        ],
        "holds": [(hold, waiting.get(hold.host) or WaitingGroup(hold.host)) for hold in holds],
    }
