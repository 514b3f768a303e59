"""Downloads of a ticket's claim file, and of the evidence about a ticket or a shipment.

A download is a POST, since it writes an entry of history.
"""

from collections.abc import Callable
from functools import partial
from typing import IO

from django.conf import settings
from django.contrib import messages
from django.http import FileResponse, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext

from desk.claim_file import making
from desk.common.pages import CHANGE_TICKET, desk_page
from desk.common.requests import StaffRequest
from shipments.models import Shipment
from tickets.models import Ticket


@desk_page(CHANGE_TICKET, post_only=True)
def claim_file_page(request: StaffRequest, ticket_id: int) -> HttpResponseBase:
    ticket = get_object_or_404(Ticket.objects.select_related("company", "type"), pk=ticket_id)
    language = request.POST.get("language", "")
    if language not in dict(settings.LANGUAGES):
        return HttpResponse(gettext("Choose a language."), status=400)
    whole = request.POST.get("as") != "pdf"
    for_carrier = request.POST.get("for") != "company"
    make = partial(making.claim_file, language=language, whole=whole, for_carrier=for_carrier)
    name = f"claim-{ticket_id}" if for_carrier else f"claim-{ticket_id}-company"
    return hand_out(request, make, ticket, f"{name}.{'zip' if whole else 'pdf'}")


@desk_page(*making.NEEDED[Ticket], post_only=True)
def ticket_evidence_page(request: StaffRequest, ticket_id: int) -> HttpResponseBase:
    ticket = get_object_or_404(Ticket.objects.select_related("company", "type"), pk=ticket_id)
    return hand_out(request, making.evidence, ticket, f"evidence-ticket-{ticket_id}.zip")


@desk_page(*making.NEEDED[Shipment], post_only=True)
def shipment_evidence_page(request: StaffRequest, shipment_id: int) -> HttpResponseBase:
    """Download the evidence of a shipment, with or without a ticket about it."""
    shipment = get_object_or_404(Shipment.objects.select_related("company"), pk=shipment_id)
    return hand_out(request, making.evidence, shipment, f"evidence-shipment-{shipment_id}.zip")


def hand_out(
    request: StaffRequest, make: Callable[..., IO[bytes]], about: Ticket | Shipment, name: str
) -> HttpResponseBase:
    try:
        return FileResponse(make(about, user=request.user), as_attachment=True, filename=name)
    except making.Busy:
        text = gettext("Another such file is being made. Try again in a moment.")
        messages.error(request, text)
    if isinstance(about, Ticket):
        return redirect("admin:tickets_ticket_change", about.pk)
    return redirect("admin:tickets_ticket_events")
