from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.http import HttpRequest
from django.utils.formats import number_format
from django.utils.translation import gettext, gettext_lazy, ngettext
from unfold.widgets import UnfoldAdminSelectWidget

from companies import services
from companies.models import ApiToken, Company
from core.values.zones import known_zones
from deliveries.monitoring.needs_attention import MOST_COUNTED, count_waiting_of
from desk.common.admin_base import ModelAdmin, NeverAdded, NeverDeleted, TabularInline
from desk.common.controls import foreign_column
from desk.people.company_overview import company_overview
from tickets.models import Ticket
from webhooks.models import Webhook


class TokenInline(NeverAdded, TabularInline):
    """Tokens without their secret; only a command issues them, since it shows each one once."""

    model = ApiToken
    fields = ("prefix", "created_at", "expires_at", "revoked_at", "last_used_at")
    readonly_fields = fields
    extra = 0
    can_delete = False


@admin.register(Company)
class CompanyAdmin(NeverDeleted, ModelAdmin):
    name_text = foreign_column("name")
    list_display = ("name_text", "active", "plan", "contact_email", "created_at")
    list_filter = ("active",)
    search_fields = ("name",)
    readonly_fields = ("open_work",)
    inlines = (TokenInline,)
    change_form_outer_before_template = "admin/companies/company/overview.html"

    def extra_context(self, request: HttpRequest, row: Company) -> dict[str, Any]:
        return {"overview": company_overview(row, request.user)}

    def formfield_for_dbfield(
        self, db_field: Any, request: HttpRequest, **options: Any
    ) -> forms.Field | None:
        if db_field.name == "time_zone":
            usual = gettext("As the deployment: %(name)s") % {"name": settings.DESK_TIME_ZONE}
            zones = [(name, name) for name in known_zones()]
            options["widget"] = UnfoldAdminSelectWidget(choices=[("", usual), *zones])
        return super().formfield_for_dbfield(db_field, request, **options)

    def has_change_permission(self, request: HttpRequest, obj: Company | None = None) -> bool:
        """Refuse changes of erased companies."""
        erased = obj is not None and obj.erased_at is not None
        return not erased and super().has_change_permission(request, obj)

    @admin.display(description=gettext_lazy("open and waiting"))
    def open_work(self, company: Company) -> str:
        """Show the company's open work, whether it is active or not (decision N27)."""
        # A form reads the value of a field several times.
        attributes = vars(company)
        if "desk_open_work" not in attributes:
            attributes["desk_open_work"] = open_work_text(company)
        return str(attributes["desk_open_work"])

    def save_model(self, request: HttpRequest, obj: Company, form: Any, change: bool) -> None:
        if change and "active" in form.changed_data:
            services.set_active(obj.pk, obj.active)
            if not obj.active:
                text = gettext(
                    "The tokens of %(company)s are refused and its webhooks are paused. %(left)s"
                )
                messages.warning(request, text % {"company": obj, "left": open_work_text(obj)})
        super().save_model(request, obj, form, change)


def open_work_text(company: Company) -> str:
    """Describe a company's open tickets and the waiting deliveries of its webhooks."""
    tickets = Ticket.objects.open().filter(company=company).count()
    webhooks = Webhook.objects.present().filter(company=company).values_list("pk", flat=True)
    counts = count_waiting_of(list(webhooks)).values()
    waiting = gettext("Waiting deliveries: %(count)s.")
    if any(count >= MOST_COUNTED for count in counts):
        waiting = gettext("Waiting deliveries: %(count)s or more.")
    text = ngettext("%(tickets)d open ticket.", "%(tickets)d open tickets.", tickets)
    return f"{text} {waiting}" % {
        "tickets": tickets,
        "count": number_format(sum(counts), force_grouping=True),
    }
