"""Page of a delivery: what was sent, what came back, and sending it again."""

from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext

from core.values.zones import active_zone, zone_name
from deliveries import redelivery
from deliveries.engine.loans import Headers
from deliveries.engine.rendering import plain_headers, signed_headers
from deliveries.models import Delivery, Event, State
from deliveries.monitoring import log
from deliveries.monitoring.delivery_details import attempt_outcome, delivery_parts
from deliveries.on_demand.signed_test import Sample
from portal import webhook_words
from portal.visitors import VisitorRequest, company_page, render_page
from portal.webhook_pages import TOO_OFTEN, go_to, notice
from webhooks.api.views import masked_token

# New at each attempt, and the signature proves who we are.
MASKED = {
    "X-Webhook-Timestamp": "…",
    "X-Webhook-Signature": "v1=…",
    "webhook-timestamp": "…",
    "webhook-signature": "v1,…",
}
COLOURS: dict[int, str] = {State.DELIVERED: "green", State.GIVEN_UP: "red"}


@company_page(scope="webhooks")
def delivery_page(request: VisitorRequest, delivery_id: UUID) -> HttpResponse:
    delivery = log.company_delivery(request.visitor.company, delivery_id)
    if request.method != "POST":
        return show_delivery(request, delivery)
    if delivery.webhook.deleted_at is not None:
        return show_delivery(request, delivery, 422, gettext("Its webhook was deleted."))
    did = "again"
    if is_under_way(delivery) or request.POST.get("attempts") != str(delivery.attempts):
        did = "already"
    else:
        try:
            redelivery.ask_again(delivery.pk)
        except redelivery.AskedTooOften:
            return show_delivery(request, delivery, 429, gettext(TOO_OFTEN))
    return go_to(delivery, did)


def is_under_way(delivery: Delivery) -> bool:
    return delivery.state == State.WAITING and delivery.due_at <= timezone.now()


def show_delivery(
    request: VisitorRequest, delivery: Delivery, status: int = 200, error: str = ""
) -> HttpResponse:
    parts = delivery_parts(delivery)
    # A delivery that is due already waits behind others.
    is_ahead = delivery.state == State.WAITING and not is_under_way(delivery)
    context = {
        **parts,
        "method": "POST",
        "delivery": delivery,
        "colour": COLOURS.get(delivery.state, ""),
        "webhook": delivery.webhook,
        "headers": request_headers(delivery, parts["stored_event"]),
        "outcome": attempt_outcome(delivery.last_status, delivery.last_error),
        "advice": [] if delivery.state == State.DELIVERED else webhook_words.advice_on(delivery),
        "due": webhook_words.moment_here(delivery.due_at) if is_ahead else "",
        "zone": zone_name(active_zone(), timezone.now()),
        "notice": notice(request),
        "error": error,
    }
    return render_page(request, "delivery.html", context, status)


def request_headers(delivery: Delivery, event: Event | None) -> Headers:
    """Return the headers that its requests carry, without what would let others send some."""
    webhook = delivery.webhook
    headers = plain_headers("…" if masked_token(webhook) else None)
    if event is not None and webhook.signed:
        fact_id, sequence = event.fact_id or UUID(int=event.pk), event.sequence or event.pk
        sample = Sample(str(delivery.pk), str(fact_id), sequence, b"")
        standard, now = webhook.standard_headers, timezone.now()
        headers += signed_headers(sample, webhook.type_name, "-", now, standard=standard)
    return [(name, MASKED.get(name, value)) for name, value in headers]
