"""Page of TicketAdmin about events: why one was not got."""

from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from companies.models import Company
from core.values.ids import LARGEST_ID
from core.values.spellings import same_text, typed_id
from desk.common.admin_base import ModelAdmin
from desk.support import delivery_details, lookup
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
    """What TicketAdmin has for the question of a missing event."""

    def get_urls(self) -> list[URLPattern]:
        guarded = self.admin_site.admin_view
        page = guarded(self.find_page)
        return [path("events/", page, name="tickets_ticket_events"), *super().get_urls()]

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
