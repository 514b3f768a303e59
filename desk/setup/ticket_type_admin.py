"""Ticket types, as operators set them up."""

from typing import TypedDict

from django.contrib import admin
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy, pgettext

from desk.common.admin_base import ModelAdmin, NeverDeleted
from desk.common.generics import WithAnnotations
from tickets.models import Ticket, TicketType


class OpenTickets(TypedDict):
    """What the list adds to types: how many open tickets each has."""

    number: int


@admin.register(TicketType)
class TicketTypeAdmin(NeverDeleted, ModelAdmin):
    list_display = (
        "id",
        "__str__",
        "words",
        "reference",
        "reference_required",
        "active",
        "open_tickets",
    )
    list_filter = ("active", "reference")
    fieldsets = (
        (None, {"fields": ("id", "name", "description")}),
        (
            gettext_lazy("What it is about"),
            {"fields": ("reference", "reference_required", "active")},
        ),
        (gettext_lazy("What companies are asked for"), {"fields": ("inputs", "files")}),
        (
            gettext_lazy("For AI assistants"),
            {"fields": ("assistants_blocked", "use_case", "assistant_notes")},
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[TicketType]:
        own = Ticket.objects.open().filter(type=OuterRef("pk")).order_by().values("type")
        number = Coalesce(Subquery(own.annotate(n=Count("*")).values("n")), 0)
        types: QuerySet[TicketType] = super().get_queryset(request)
        return types.annotate(number=number)

    @admin.display(description=gettext_lazy("description"))
    def words(self, one: TicketType) -> str:
        return pgettext("ticket type", one.description)

    @admin.display(description=gettext_lazy("open tickets"))
    def open_tickets(self, one: WithAnnotations[TicketType, OpenTickets]) -> SafeString | str:
        """Those of a type that is no longer offered go on (decision N27)."""
        address = f"{reverse('admin:tickets_ticket_changelist')}?queue=open&type={one.pk}"
        return format_html('<a class="underline" href="{}">{}</a>', address, one.number)

    def get_readonly_fields(
        self, request: HttpRequest, obj: TicketType | None = None
    ) -> tuple[str, ...]:
        if obj is None:
            return ()
        # Tickets point at the id, incidences at the name.
        fixed: tuple[str, ...] = ("id", "name")
        if not self.has_add_permission(request):
            # What types there are is the operator's; what is said of them the leads' too.
            fixed += ("reference", "reference_required", "active")
        return fixed
