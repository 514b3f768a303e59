"""The page from which agents take a ticket's claim file."""

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import FileResponse, Http404, HttpResponse, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils.translation import gettext

from desk.claim_file.making import Busy, claim_file
from desk.common.admin_base import ModelAdmin
from desk.common.requests import StaffRequest


class ClaimFilePages(ModelAdmin):
    """What TicketAdmin has for filing a claim with a carrier."""

    def get_urls(self) -> list[URLPattern]:
        page = self.admin_site.admin_view(self.claim_file_page)
        return [
            path("<id:ticket_id>/claim-file/", page, name="tickets_ticket_claim_file"),
            *super().get_urls(),
        ]

    def claim_file_page(self, request: StaffRequest, ticket_id: int) -> HttpResponseBase:
        """POST gives the file, since it also leaves a line in the ticket's history."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        ticket = self.get_object(request, str(ticket_id))
        if ticket is None:
            raise Http404
        language = request.POST.get("language", "")
        if language not in dict(settings.LANGUAGES):
            return HttpResponse(gettext("Choose a language."), status=400)
        whole = request.POST.get("as") != "pdf"
        for_carrier = request.POST.get("for") != "company"
        try:
            made = claim_file(
                ticket,
                user=request.user,
                language=language,
                whole=whole,
                for_carrier=for_carrier,
            )
        except Busy:
            text = gettext("Another claim file is being made. Try again in a moment.")
            messages.error(request, text)
            return redirect("admin:tickets_ticket_change", ticket_id)
        ending = "zip" if whole else "pdf"
        name = f"claim-{ticket_id}" if for_carrier else f"claim-{ticket_id}-company"
        return FileResponse(made, as_attachment=True, filename=f"{name}.{ending}")
