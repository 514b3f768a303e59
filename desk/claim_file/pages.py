"""Pages from which agents take a ticket's claim file, and the evidence of it or of a shipment."""

from collections.abc import Callable
from functools import partial
from typing import IO

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import FileResponse, Http404, HttpResponse, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils.translation import gettext

from desk.claim_file import making
from desk.common.admin_base import ModelAdmin
from desk.common.requests import StaffRequest
from shipments.models import Shipment
from tickets.models import Ticket


class ClaimFilePages(ModelAdmin):
    """What TicketAdmin has for filing a claim with a carrier, and for a dispute.

    POST gives a file, since it also leaves a line in the history of what it is about.
    """

    def get_urls(self) -> list[URLPattern]:
        claim = self.admin_site.admin_view(self.claim_file_page)
        evidence = self.admin_site.admin_view(self.evidence_page)
        of_shipment, name = "events/<id:shipment_id>/evidence/", "tickets_ticket_shipment_evidence"
        return [
            path("<id:ticket_id>/claim-file/", claim, name="tickets_ticket_claim_file"),
            path("<id:ticket_id>/evidence/", evidence, name="tickets_ticket_evidence"),
            path(of_shipment, evidence, name=name),
            *super().get_urls(),
        ]

    def claim_file_page(self, request: StaffRequest, ticket_id: int) -> HttpResponseBase:
        if not self.has_change_permission(request):
            raise PermissionDenied
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        ticket: Ticket | None = self.get_object(request, str(ticket_id))
        if ticket is None:
            raise Http404
        language = request.POST.get("language", "")
        if language not in dict(settings.LANGUAGES):
            return HttpResponse(gettext("Choose a language."), status=400)
        whole = request.POST.get("as") != "pdf"
        for_carrier = request.POST.get("for") != "company"
        make = partial(making.claim_file, language=language, whole=whole, for_carrier=for_carrier)
        name = f"claim-{ticket_id}" if for_carrier else f"claim-{ticket_id}-company"
        return hand_out(request, make, ticket, f"{name}.{'zip' if whole else 'pdf'}")

    def evidence_page(
        self, request: StaffRequest, ticket_id: int | None = None, shipment_id: int | None = None
    ) -> HttpResponseBase:
        """Of a ticket, or of a shipment that there need be no ticket about."""
        kind = Shipment if ticket_id is None else Ticket
        if not request.user.has_perms(making.NEEDED[kind]):
            raise PermissionDenied
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        about: Ticket | Shipment | None = (
            Shipment.objects.select_related("company").filter(pk=shipment_id or 0).first()
            if ticket_id is None
            else self.get_object(request, str(ticket_id))
        )
        if about is None:
            raise Http404
        name = f"evidence-{kind.__name__.lower()}-{about.pk}.zip"
        return hand_out(request, making.evidence, about, name)


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
