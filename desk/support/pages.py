"""The page that explains why a company did not get an event."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from companies.models import Company
from deliveries.monitoring import delivery_details
from desk.common.fields import number_field, text_field
from desk.common.pages import desk_page, draw
from desk.common.search_names import company_by_id_or_name
from desk.support import lookup
from webhooks.event_types import registry


def event_types() -> list[tuple[int | str, str]]:
    return [("", gettext("any")), *((each.id, each.name) for each in registry)]


def company_field() -> forms.CharField:
    """Create a field for an id or a name; clean it with `find_company`."""
    hint = gettext_lazy("The company's ID or full name.")
    return text_field(gettext_lazy("Company"), 200, hint)


def type_field() -> forms.TypedChoiceField:
    """Create a field whose value is the id of an event type, or None."""
    return forms.TypedChoiceField(
        required=False,
        label=gettext_lazy("Event"),
        coerce=int,
        empty_value=None,
        choices=event_types,
        widget=UnfoldAdminSelectWidget,
    )


class MissingEventForm(forms.Form):
    """Details of a missing event as a company knows them; one field is enough."""

    company = company_field()
    shipment_id = number_field(gettext_lazy("Shipment ID"), least=0)
    tracking_number = text_field(gettext_lazy("Tracking number"), 100)
    delivery_id = forms.UUIDField(
        required=False, label="X-Webhook-Id", widget=UnfoldAdminTextInputWidget
    )
    request_id = text_field("X-Request-Id", 128)
    type_id = type_field()

    def clean_company(self) -> Company | None:
        return find_company(self.cleaned_data["company"])


def find_company(typed: str) -> Company | None:
    """Return the company with an id or full name; None for a blank. Raises ValidationError."""
    text = typed.strip()
    if not text:
        return None
    company = company_by_id_or_name(text)
    if company is None:
        raise forms.ValidationError(gettext("Company not found."))
    return company


@desk_page("deliveries.view_delivery", "webhooks.view_webhook")
def find_page(request: HttpRequest) -> HttpResponse:
    is_search = any(request.GET.get(name) for name in MissingEventForm.base_fields)
    form = MissingEventForm(request.GET if is_search else None)
    context: dict[str, Any] = {"caption": gettext("Deliveries, newest first"), "form": form}
    if is_search and form.is_valid():
        matches = lookup.find_events(**form.cleaned_data)
        context |= {"found": matches, "lines": delivery_details.delivery_lines(matches.deliveries)}
    title = gettext("Find a missing event")
    return draw(request, "admin/tickets/ticket/events.html", title, **context)
