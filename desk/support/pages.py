"""Pages of TicketAdmin about events: why one was not got, and the record of them as a file."""

from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from companies.ids import LARGEST_ID
from companies.models import Company
from companies.spellings import same_text, typed_id
from desk.common.admin_base import ModelAdmin
from desk.common.requests import StaffRequest
from desk.support import delivery_details, evidence, lookup
from shipments.models import Shipment
from webhooks.event_types import registry


def event_types() -> list[tuple[int | str, str]]:
    return [("", gettext("any")), *((each.id, each.name) for each in registry)]


def company_field() -> forms.CharField:
    """Read by `company_given`."""
    return forms.CharField(
        required=False,
        max_length=200,
        label=gettext_lazy("Company"),
        help_text=gettext_lazy("The company's ID or full name."),
        widget=UnfoldAdminTextInputWidget,
    )


class MissingEventForm(forms.Form):
    """What a company says of an event it misses. One of these is enough."""

    company = company_field()
    shipment_id = forms.IntegerField(
        required=False,
        label=gettext_lazy("Shipment ID"),
        min_value=0,
        max_value=LARGEST_ID,
        widget=UnfoldAdminTextInputWidget,
    )
    tracking_number = forms.CharField(
        required=False,
        label=gettext_lazy("Tracking number"),
        max_length=100,
        widget=UnfoldAdminTextInputWidget,
    )
    delivery_id = forms.UUIDField(
        required=False, label="X-Webhook-Id", widget=UnfoldAdminTextInputWidget
    )
    request_id = forms.CharField(
        required=False,
        label="X-Request-Id",
        max_length=128,
        widget=UnfoldAdminTextInputWidget,
    )
    type_id = forms.TypedChoiceField(
        required=False,
        label=gettext_lazy("Event"),
        coerce=int,
        empty_value=None,
        choices=event_types,
        widget=UnfoldAdminSelectWidget,
    )

    def clean_company(self) -> Company | None:
        return company_given(self.cleaned_data["company"])


def company_given(typed: str) -> Company | None:
    """The company of an ID or a full name, None of nothing. Raises ValidationError."""
    text = typed.strip()
    if not text:
        return None
    if text.isdecimal():
        company = Company.objects.filter(pk=typed_id(text) or 0).first()
    else:
        company = Company.objects.filter(same_text("name", text)).order_by("pk").first()
    if company is None:
        raise forms.ValidationError(gettext("Company not found."))
    return company


class SupportPages(ModelAdmin):
    """What TicketAdmin has for the question of a missing event, and for a dispute."""

    def get_urls(self) -> list[URLPattern]:
        guarded = self.admin_site.admin_view
        export = guarded(self.evidence_page)
        return [
            path("events/", guarded(self.find_page), name="tickets_ticket_events"),
            path(
                "events/<id:shipment_id>/evidence/",
                guarded(self.shipment_evidence_page),
                name="tickets_ticket_shipment_evidence",
            ),
            path("<id:ticket_id>/evidence/", export, name="tickets_ticket_evidence"),
            *super().get_urls(),
        ]

    def find_page(self, request: HttpRequest) -> HttpResponse:
        if not request.user.has_perms(["deliveries.view_delivery", "webhooks.view_webhook"]):
            raise PermissionDenied
        asked = any(request.GET.get(name) for name in MissingEventForm.base_fields)
        form = MissingEventForm(request.GET if asked else None)
        context: dict[str, Any] = {
            **self.admin_site.each_context(request),
            "title": gettext("Find a missing event"),
            "caption": gettext("Deliveries, newest first"),
            "form": form,
        }
        if asked and form.is_valid():
            found = lookup.find_events(**form.cleaned_data)
            context |= {"found": found, "lines": delivery_details.delivery_lines(found.deliveries)}
        return TemplateResponse(request, "admin/tickets/ticket/events.html", context)

    def evidence_page(self, request: StaffRequest, ticket_id: int) -> HttpResponse:
        """POST gives the file, since it also leaves a line in the ticket's history."""
        if not request.user.has_perms(evidence.NEEDED):
            raise PermissionDenied
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        ticket = self.get_object(request, str(ticket_id))
        if ticket is None:
            raise Http404
        content = evidence.export_ticket(ticket, user=request.user)
        return as_file(content, f"evidence-ticket-{ticket.pk}.zip")

    def shipment_evidence_page(self, request: StaffRequest, shipment_id: int) -> HttpResponse:
        """POST gives the file of a shipment that there need be no ticket about."""
        if not request.user.has_perms(evidence.NEEDED_WITHOUT_TICKET):
            raise PermissionDenied
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        shipment = get_object_or_404(Shipment.objects.select_related("company"), pk=shipment_id)
        content = evidence.export_shipment(shipment, user=request.user)
        return as_file(content, f"evidence-shipment-{shipment.pk}.zip")


def as_file(content: bytes, name: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(content, content_type="application/zip", headers=headers)
