"""Ticket types, as operators set them up."""

from django.contrib import admin
from django.http import HttpRequest

from desk.common.admin_base import ModelAdmin
from tickets.models import TicketType


@admin.register(TicketType)
class TicketTypeAdmin(ModelAdmin):
    list_display = ("id", "name", "description", "reference", "reference_required", "active")
    list_filter = ("active", "reference")

    def get_readonly_fields(
        self, request: HttpRequest, obj: TicketType | None = None
    ) -> tuple[str, ...]:
        # Tickets point at the id, incidences at the name.
        return ("id", "name") if obj else ()

    def has_delete_permission(self, request: HttpRequest, obj: TicketType | None = None) -> bool:
        return False
