"""Pages of a company's webhooks: their conditions, and what can be done about them."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import F
from django.http import Http404, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy, gettext_noop
from django.views.decorators.http import require_safe

from companies.api.rates import is_within_rate
from companies.models import Company
from core.values.zones import in_zone
from deliveries import redelivery
from deliveries.models import Attempt, Delivery
from deliveries.monitoring import log
from deliveries.monitoring.delivery_details import delivery_lines, facts_of
from deliveries.on_demand import signed_test
from deliveries.on_demand.sample_delivery import TooManyTestSends
from portal import webhook_words
from portal.visitors import VisitorRequest, company_page, render_page
from webhooks import services
from webhooks.api.views import secret_fields
from webhooks.models import Webhook
from webhooks.targets import BadTarget

ROWS = 20
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
SPANS = {
    "hour": (gettext_lazy("the last hour"), HOUR),
    "day": (gettext_lazy("the last 24 hours"), DAY),
    "week": (gettext_lazy("the last 7 days"), 7 * DAY),
}
# The usual one first.
DELAYS = {
    "day": (gettext_lazy("in 24 hours"), DAY),
    "hour": (gettext_lazy("in 1 hour"), HOUR),
    "now": (gettext_lazy("at once, because the old one has leaked"), timedelta()),
}
NOTICES = {
    "url": gettext_noop("The new URL counts from now on. Send a signed test."),
    "paused": gettext_noop("Paused: nothing is sent until you resume it."),
    "resumed": gettext_noop("Resumed: whatever waits is being sent, in order."),
    "recovered": gettext_noop("Being sent again, in order. Deliveries: %(count)s."),
    "again": gettext_noop("It is being sent again. Load this page in a moment to see the answer."),
    "already": gettext_noop("It is being sent already, or was since you opened the page."),
}
TOO_OFTEN = gettext_noop("Asked for too often today: try again tomorrow.")
REFUSALS: dict[type[Exception], tuple[int, str]] = {
    services.AlreadyRegistered: (
        409,
        gettext_noop("Webhook %(webhook)d already sends the same events to this URL."),
    ),
    redelivery.AskedTooOften: (429, TOO_OFTEN),
    signed_test.CannotTest: (422, gettext_noop("Nothing can be sent at present. Try again later.")),
    TooManyTestSends: (
        429,
        gettext_noop("Too many tests at a time. Wait a minute, then try again."),
    ),
}


@require_safe
@company_page(scope="webhooks")
def webhooks_page(request: VisitorRequest) -> HttpResponse:
    cards = webhook_words.cards_of(request.visitor.company.webhooks.present().order_by("pk"))
    return render_page(request, "webhooks.html", {"cards": cards})


@company_page(scope="webhooks")
def webhook_page(request: VisitorRequest, webhook_id: int) -> HttpResponse:
    if request.method != "POST":
        return show_webhook(request, webhook_id)
    webhook = present_webhook(request, webhook_id)
    act = request.POST.get("act", "")
    if act not in ACTS or (webhook.fetched and act not in ("pause", "resume")):
        raise Http404
    try:
        return ACTS[act](request, webhook)
    except BadTarget as error:
        status, text = 400 if act == "url" else 422, webhook_words.target_words(error)
    except tuple(REFUSALS) as error:
        status, words = REFUSALS[type(error)]
        text = gettext(words) % {"webhook": getattr(error, "webhook_id", 0)}
    return show_webhook(request, webhook_id, status, error={act: text})


def show_webhook(
    request: VisitorRequest, webhook_id: int, status: int = 200, **more: Any
) -> HttpResponse:
    """Draw the page of a webhook, with `more` context, such as the `error` of a form."""
    cards = webhook_words.cards_of(request.visitor.company.webhooks.present().filter(pk=webhook_id))
    if not cards:
        raise Http404
    webhook = cards[0]["webhook"]
    try:
        deliveries, older = log.log_page(webhook, limit=ROWS, cursor=request.GET.get("older"))
    except log.BadCursor as wrong:
        raise Http404 from wrong
    context = {
        "card": cards[0],
        "webhook": webhook,
        "notice": notice(request),
        "typed_url": request.POST.get("url", webhook.url).strip(),
        "lines": with_durations(deliveries),
        "older": older,
        "is_older": "older" in request.GET,
        "when": in_zone(gettext("When")),
        "spans": [(name, words) for name, (words, _) in SPANS.items()],
        "rotates": rotation_ahead(webhook),
        "samples": webhook_words.samples() if webhook.signed else [],
    }
    return render_page(request, "webhook.html", context | more, status)


def with_durations(deliveries: list[Delivery]) -> list[dict[str, Any]]:
    """Return lines of the log, each with the milliseconds of its last attempt."""
    last = Attempt.objects.filter(
        delivery__in=[one.pk for one in deliveries], number=F("delivery__attempts")
    )
    times = dict(last.values_list("delivery", "duration_ms"))
    lines = delivery_lines(deliveries)
    return [{**line, "duration_ms": times.get(line["delivery"].pk)} for line in lines]


def notice(request: VisitorRequest) -> str:
    """Return the result of the act that led here."""
    words, count = NOTICES.get(request.GET.get("did", "")), request.GET.get("count", "")
    return gettext(words) % {"count": count if count.isdecimal() else ""} if words else ""


def present_webhook(request: VisitorRequest, webhook_id: int) -> Webhook:
    return request.visitor.company.webhooks.present().get(pk=webhook_id)


def go_to(row: Webhook | Delivery, did: str) -> HttpResponse:
    """Lead to the notice of what was done, on the page of a row: Reload does not repeat it."""
    name = "portal_webhook" if isinstance(row, Webhook) else "portal_delivery"
    address = f"{reverse(name, args=[row.pk])}?did={did}#content"
    return HttpResponse(status=303, headers={"Location": address})


def send_test(request: VisitorRequest, webhook: Webhook) -> HttpResponse:
    """Send a signed test and show its verdict, which is stored nowhere."""
    if not is_within_rate(request.visitor.company, "send"):
        raise TooManyTestSends("Many")
    verdict = signed_test.try_webhook(webhook)
    return show_webhook(
        request,
        webhook.pk,
        verdict=verdict,
        verdict_error=verdict.error and gettext(verdict.error),
        verdict_advice=webhook_words.in_words(verdict.advice),
    )


def recover(request: VisitorRequest, webhook: Webhook) -> HttpResponse:
    """Send again what has not arrived since a time."""
    span = request.POST.get("since", "")
    if span in SPANS:
        since = timezone.now() - SPANS[span][1]
    else:
        facts = facts_of(Webhook.objects.filter(pk=webhook.pk))
        since = facts[webhook.pk].missing_since or timezone.now()
    count = redelivery.recover(webhook.pk, since=since)
    return go_to(webhook, f"recovered&count={count}")


def switch(request: VisitorRequest, webhook: Webhook) -> HttpResponse:
    """Pause or resume."""
    active = request.POST["act"] == "resume"
    services.change_webhook(request.visitor.company, webhook.pk, active=active)
    return go_to(webhook, "resumed" if active else "paused")


def change_url(request: VisitorRequest, webhook: Webhook) -> HttpResponse:
    url = request.POST.get("url", "").strip()
    services.change_webhook(request.visitor.company, webhook.pk, url=url)
    return go_to(webhook, "url")


ACTS: dict[str, Callable[[VisitorRequest, Webhook], HttpResponse]] = {
    "test": send_test,
    "recover": recover,
    "pause": switch,
    "resume": switch,
    "url": change_url,
}


@company_page(scope="webhooks")
def secret_page(request: VisitorRequest, webhook_id: int) -> HttpResponse:
    """Ask once, then make a new secret, and show it in this answer only."""
    webhook = present_webhook(request, webhook_id)
    if not webhook.signed:
        raise Http404
    context: dict[str, Any] = {"delays": DELAYS}
    if request.method == "POST":
        _, delay = DELAYS.get(request.POST.get("when", ""), DELAYS["day"])
        changed = rotate_once(request.visitor.company, webhook, request.POST.get("key", ""), delay)
        context |= secret_fields(changed.next_secret) if changed else {"is_stale": True}
        webhook = changed or present_webhook(request, webhook_id)
    context |= {
        "webhook": webhook,
        "key": form_key(webhook),
        "activates": rotation_ahead(webhook),
    }
    status = 409 if "is_stale" in context else 200
    return render_page(request, "webhook_secret.html", context, status)


def rotation_ahead(webhook: Webhook) -> str:
    """Return the moment from which another secret signs; "" unless it is ahead."""
    at = webhook.next_secret_at
    return webhook_words.moment_here(at) if at and at > timezone.now() else ""


def form_key(webhook: Webhook) -> str:
    """Return what every rotation changes, so that a form rotates once."""
    return webhook.next_secret_at.isoformat() if webhook.next_secret_at else "first"


@transaction.atomic
def rotate_once(company: Company, webhook: Webhook, key: str, delay: timedelta) -> Webhook | None:
    """Make a new secret, unless there was a rotation since the form was drawn."""
    if form_key(services.lock_webhook(company, webhook.pk)) != key:
        return None
    return services.rotate_secret(company, webhook.pk, activates_in=delay)
