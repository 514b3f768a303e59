"""Shipments at the desk, read-only: their data comes from the feed alone."""

import json

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

from core.values.money import money_text
from core.values.spellings import typed_id
from desk.common.admin_base import ReadOnly, ReadOnlyAdmin, ShortPaginator, TabularInline
from desk.common.controls import foreign_column, isolate_text
from shipments.carrier_pages import parcel_context
from shipments.labels import tracking_label
from shipments.models import Incidence, Shipment, Surcharge, TrackingUpdate
from tickets.labels import type_label


class UpdateInline(ReadOnly, TabularInline):
    model = TrackingUpdate
    status_text = foreign_column("status", tracking_label)
    status_description_text = foreign_column("status_description")
    location_text = foreign_column("location")
    fields = readonly_fields = (
        "occurred_at",
        "status_text",
        "status_description_text",
        "location_text",
    )
    ordering = ("-pk",)


class SurchargeInline(ReadOnly, TabularInline):
    model = Surcharge
    surcharge_type_text = foreign_column("surcharge_type")
    reason_text = foreign_column("reason")
    fields = (
        "surcharge_id",
        "transaction_type",
        "surcharge_type_text",
        "reason_text",
        "price",
        "created_at",
    )
    readonly_fields = fields

    @admin.display(description=gettext_lazy("amount"))
    def price(self, surcharge: Surcharge) -> str:
        return money_text(surcharge.amount, surcharge.currency)


class IncidenceInline(ReadOnly, TabularInline):
    model = Incidence
    kind_text = foreign_column("kind", type_label)
    description_text = foreign_column("description")
    fields = readonly_fields = (
        "id",
        "kind_text",
        "description_text",
        "open",
        "created_at",
    )
    show_change_link = True


@admin.register(Shipment)
class ShipmentAdmin(ReadOnlyAdmin):
    tracking_number_text = foreign_column("tracking_number")
    company_text = foreign_column("company")
    carrier_name_text = foreign_column("carrier_name")
    status_text = foreign_column("status", tracking_label)
    list_display = (
        "id",
        "tracking_number_text",
        "company_text",
        "carrier_name_text",
        "status_text",
        "created_at",
    )
    list_select_related = ("company",)
    search_fields = ("id",)
    search_help_text = gettext_lazy("A shipment's ID or full tracking number.")
    fields = readonly_fields = (
        "id",
        "company_text",
        "parcel_text",
        "carrier_id",
        "order_text",
        "status_text",
        "created_at",
        "shipped_at",
        "delivered_at",
    )
    inlines = (IncidenceInline, SurchargeInline, UpdateInline)
    ordering = ("-id",)
    paginator = ShortPaginator

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Shipment], search_term: str
    ) -> tuple[QuerySet[Shipment], bool]:
        """Find a parcel by its ID, or by its tracking number in any spelling."""
        if not (typed := search_term.strip()):
            return queryset, False
        numbered = Shipment.objects.numbered([typed]).values("pk")
        return queryset.filter(Q(pk=typed_id(typed) or 0) | Q(pk__in=numbered)), False

    def get_fields(self, request: HttpRequest, obj: Shipment | None = None) -> tuple[str, ...]:
        """Return the fields; most shipments have no order, so an empty one is left out."""
        empty = () if obj is None or obj.order else ("order_text",)
        return tuple(name for name in self.fields if name not in empty)

    @admin.display(description=gettext_lazy("tracking number"))
    def parcel_text(self, shipment: Shipment) -> SafeString:
        context = parcel_context(shipment.carrier_name, shipment.tracking_number)
        return render_to_string("desk/parcel.html", context)

    @admin.display(description=gettext_lazy("order"))
    def order_text(self, shipment: Shipment) -> SafeString | str:
        order = shipment.order
        return isolate_text(order and json.dumps(order, ensure_ascii=False))


@admin.register(Incidence)
class IncidenceAdmin(ReadOnlyAdmin):
    shipment_text = foreign_column("shipment")
    kind_text = foreign_column("kind", type_label)
    description_text = foreign_column("description")
    list_display = ("id", "shipment_text", "company", "kind_text", "open", "created_at")
    list_filter = ("open",)
    list_select_related = ("shipment__company",)
    search_fields = ("id__exact", "shipment_id__exact")
    search_help_text = gettext_lazy("The ID of an incidence or a shipment.")
    fields = readonly_fields = (
        "id",
        "shipment_text",
        "company",
        "kind_text",
        "description_text",
        "open",
        "created_at",
    )
    ordering = ("-id",)
    paginator = ShortPaginator

    @admin.display(description=gettext_lazy("company"))
    def company(self, incidence: Incidence) -> SafeString | str:
        return isolate_text(incidence.shipment.company.name)
