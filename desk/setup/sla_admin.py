"""Admin pages of calendars, SLA targets and filing rules, for leads."""

from typing import Any

from django.contrib import admin
from django.db import models
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext, gettext_lazy

from core.data.reading_order import ReadingOrder
from desk.common.admin_base import LabelledInline, ModelAdmin
from desk.common.controls import isolate_text
from desk.setup.sla_forms import CalendarForm, FilingRuleForm, HoursOfAWeek, TargetForm
from tickets.models import Calendar, FilingRule, Holiday, SLATarget, WorkingHours
from tickets.sla import recalculation


class RulesAdmin(ModelAdmin):
    """Base of admin pages whose changes recalculate due dates of open tickets."""

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        recalculation.rules_changed()

    def delete_model(self, request: HttpRequest, obj: models.Model) -> None:
        super().delete_model(request, obj)
        recalculation.rules_changed()

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        super().delete_queryset(request, queryset)
        recalculation.rules_changed()


class HoursInline(LabelledInline):
    model = WorkingHours
    formset = HoursOfAWeek
    fields = ("weekday", "starts", "ends")
    extra = 0
    min_num = 1


class HolidayInline(LabelledInline):
    model = Holiday
    fields = ("day", "name")
    extra = 0


@admin.register(Calendar)
class CalendarAdmin(RulesAdmin):
    form = CalendarForm
    list_display = ("__str__", "time_zone", "week")
    fields = ("name", "time_zone")
    inlines = (HoursInline, HolidayInline)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Calendar]:
        return super().get_queryset(request).prefetch_related("hours")

    @admin.display(description=gettext_lazy("working hours"))
    def week(self, calendar: Calendar) -> str:
        hours = ", ".join(str(hours) for hours in calendar.hours.all())
        return f"{hours} ({calendar.time_zone})" if hours else ""


@admin.register(SLATarget)
class TargetAdmin(RulesAdmin):
    form = TargetForm
    list_display = ("about", "calendar", "first_response", "resolution")
    list_select_related = ("type", "calendar")
    fields = (("plan", "type"), "calendar", ("first_response_minutes", "resolution_minutes"))

    @admin.display(description=gettext_lazy("applies to"), ordering="plan")
    def about(self, target: SLATarget) -> str:
        return str(target)

    @admin.display(description=gettext_lazy("first response"), ordering="first_response_minutes")
    def first_response(self, target: SLATarget) -> str:
        return hours_and_minutes(target.first_response_minutes)

    @admin.display(description=gettext_lazy("resolution"), ordering="resolution_minutes")
    def resolution(self, target: SLATarget) -> str:
        return hours_and_minutes(target.resolution_minutes)


def hours_and_minutes(minutes: int) -> str:
    hours, rest = divmod(minutes, 60)
    parts = (f"{hours} h" if hours else "", f"{rest} min" if rest else "")
    return " ".join(filter(None, parts))


@admin.register(FilingRule)
class FilingRuleAdmin(RulesAdmin):
    form = FilingRuleForm
    list_display = ("carrier", "type", "days", "counts_from_delivery")
    list_filter = ("type",)
    list_select_related = ("type",)
    search_fields = ("carrier_name",)
    fields = (("carrier_name", "type"), "days", "counts_from_delivery")

    @admin.display(description=gettext_lazy("carrier"), ordering=ReadingOrder("carrier_name"))
    def carrier(self, rule: FilingRule) -> str:
        return isolate_text(rule.carrier_name) or gettext("any")
