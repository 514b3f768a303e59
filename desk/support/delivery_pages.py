"""Pages of a delivery: send it again, check a signature."""

from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext

from deliveries.engine import signature_check
from deliveries.models import Delivery, Event
from deliveries.monitoring import delivery_details
from desk.common.fields import text_field
from desk.common.pages import desk_page, draw
from desk.common.requests import StaffRequest
from desk.support import actions

PAGE = "admin:deliveries_delivery_change"


class SignatureForm(forms.Form):
    timestamp = text_field("X-Webhook-Timestamp", 20, required=True)
    signature = text_field("X-Webhook-Signature", 200, required=True)


@desk_page(actions.SEND_AGAIN, post_only=True)
def again_page(request: StaffRequest, delivery_id: UUID) -> HttpResponse:
    if not Delivery.objects.filter(pk=delivery_id).exists():
        raise Http404
    again, refused = actions.send_again([delivery_id], user=request.user)
    if refused:
        messages.error(request, refused[delivery_id])
    elif again:
        text = gettext("The delivery is being sent again, with the same X-Webhook-Id.")
        messages.success(request, text)
    else:
        text = gettext("Not sent again: an attempt is in progress right now.")
        messages.warning(request, text)
    return redirect(PAGE, delivery_id)


@desk_page("deliveries.view_delivery")
def proof_page(request: StaffRequest, delivery_id: UUID) -> HttpResponse:
    """Check a signature that a company received; posted values are not stored."""
    # The check needs the webhook's secret, which the page's context must not contain.
    delivery = get_object_or_404(Delivery.objects.select_related("webhook"), pk=delivery_id)
    event = get_object_or_404(Event, pk=delivery.event_id, created_at=delivery.created_at)
    form, verdict = SignatureForm(request.POST or None), None
    if request.method == "POST" and form.is_valid():
        verdict = signature_check.check_signature(delivery, event, **form.cleaned_data)
    return draw(
        request,
        "admin/deliveries/delivery/signature.html",
        gettext("Check a signature"),
        form=form,
        verdict=verdict and delivery_details.signature_words(verdict),
        genuine=verdict == signature_check.Verdict.GENUINE,
        delivery_id=delivery_id,
    )
