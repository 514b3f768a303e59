"""The desk's view of shipments: to look at. What is known comes from the feed alone."""

from django.contrib import admin
from django.http import HttpRequest

from desk.common.admin_base import ReadOnly, ReadOnlyAdmin, ShortPaginator, TabularInline
from shipments.amounts import amount_text
from shipments.models import Incidence, Shipment, Surcharge, TrackingUpdate


class UpdateInline(ReadOnly, TabularInline):
    model = TrackingUpdate
    fields = ("occurred_at", "status", "status_description", "location")
    ordering = ("-pk",)


class SurchargeInline(ReadOnly, TabularInline):
    model = Surcharge
    fields = (
        "surcharge_id",
        "transaction_type",
        "surcharge_type",
        "reason",
        "price",
        "created_at",
    )
    readonly_fields = ("price",)

    @admin.display(description="amount")
    def price(self, surcharge: Surcharge) -> str:
        return f"{amount_text(surcharge.amount)} {surcharge.currency}"


class IncidenceInline(ReadOnly, TabularInline):
    model = Incidence
    fields = ("id", "kind", "description", "open", "created_at")
    show_change_link = True


@admin.register(Shipment)
class ShipmentAdmin(ReadOnlyAdmin):
    list_display = ("id", "tracking_number", "company", "carrier_name", "status", "created_at")
    list_select_related = ("company",)
    search_fields = ("id__exact", "tracking_number__exact")
    search_help_text = "A shipment's ID or full tracking number."
    fields = (
        "id",
        "company",
        "tracking_number",
        "carrier_name",
        "carrier_id",
        "order",
        "status",
        "created_at",
        "shipped_at",
        "delivered_at",
    )
    inlines = (IncidenceInline, SurchargeInline, UpdateInline)
    ordering = ("-id",)
    paginator = ShortPaginator

    def get_fields(self, request: HttpRequest, obj: Shipment | None = None) -> tuple[str, ...]:
        """Few shipments are a shop's: an order is shown where there is one."""
        empty = () if obj is None or obj.order else ("order",)
        return tuple(name for name in self.fields if name not in empty)


@admin.register(Incidence)
class IncidenceAdmin(ReadOnlyAdmin):
    list_display = ("id", "shipment", "company", "kind", "open", "created_at")
    list_filter = ("open",)
    list_select_related = ("shipment__company",)
    search_fields = ("id__exact", "shipment_id__exact")
    search_help_text = "The ID of an incidence or a shipment."
    fields = ("id", "shipment", "company", "kind", "description", "open", "created_at")
    readonly_fields = ("company",)
    ordering = ("-id",)
    paginator = ShortPaginator

    @admin.display
    def company(self, incidence: Incidence) -> str:
        return incidence.shipment.company.name
