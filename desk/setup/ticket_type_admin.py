"""Admin page of ticket types, for operators."""

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
    """Annotation of the list: number of open tickets."""

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
        """Link to the open tickets; they continue if the type is deactivated (decision N27)."""
        address = f"{reverse('admin:tickets_ticket_changelist')}?queue=open&type={one.pk}"
        return format_html('<a class="underline" href="{}">{}</a>', address, one.number)

    def get_readonly_fields(
        self, request: HttpRequest, obj: TicketType | None = None
    ) -> tuple[str, ...]:
        if obj is None:
            return ()
        # Tickets refer to the id, incidences to the name.
        fixed: tuple[str, ...] = ("id", "name")
        if not self.has_add_permission(request):
            # Operators decide which types exist; leads may only change their descriptions.
            fixed += ("reference", "reference_required", "active")
        return fixed
