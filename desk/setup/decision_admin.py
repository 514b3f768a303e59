"""Admin pages of reason codes and approval limits, for leads."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db import models
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget as Boxes
from unfold.widgets import UnfoldAdminTextInputWidget

from core.data.reading_order import ReadingOrder
from core.values.currencies import CURRENCIES
from core.values.money import money_number
from desk.common.admin_base import ModelAdmin, NeverDeleted
from desk.common.controls import foreign_column
from desk.common.generics import ModelForm
from desk.common.language_fields import entered_texts, initial_texts, language_fields
from tickets.models import ApprovalLimit, ReasonCode
from tickets.models.decisions import OTHER
from tickets.money import MOST


class ReasonCodeForm(ModelForm[ReasonCode]):
    class Meta:
        model = ReasonCode
        fields = ("code", "for_accepted", "for_declined", "types", "active", "position")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial.update(initial_texts("names", self.instance.names))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        self.instance.names = entered_texts("names", cleaned)
        decides = cleaned.get("for_accepted") and cleaned.get("for_declined")
        if self.instance.code == OTHER:
            if not decides or not cleaned.get("active") or cleaned.get("types"):
                raise ValidationError(
                    gettext(
                        "“other” stays active, for both decisions and all types: it is used where"
                        " no code is given."
                    )
                )
        elif not cleaned.get("for_accepted") and not cleaned.get("for_declined"):
            self.add_error("for_accepted", gettext("Choose Accepted, Declined or both."))
        return cleaned


NAMES = language_fields(
    "names", _("Name"), required=True, max_length=100, widget=UnfoldAdminTextInputWidget
)
# The names of the fields depend on LANGUAGES, so the class body cannot declare them.
ReasonCodeForm.declared_fields |= NAMES


@admin.register(ReasonCode)
class ReasonCodeAdmin(NeverDeleted, ModelAdmin):
    """Admin page of reason codes; decisions refer to them, so they are only deactivated."""

    form = ReasonCodeForm
    list_display = ("__str__", "code_text", "for_accepted", "for_declined", "active")
    list_filter = ("active", "for_accepted", "for_declined")
    fields = (
        "code",
        tuple(NAMES),
        ("for_accepted", "for_declined"),
        "types",
        ("active", "position"),
    )
    formfield_overrides = {models.ManyToManyField: {"widget": Boxes}}
    list_per_page = 50
    show_facets = admin.ShowFacets.NEVER

    code_text = foreign_column("code")

    def get_readonly_fields(
        self, request: HttpRequest, obj: ReasonCode | None = None
    ) -> tuple[str, ...]:
        return () if obj is None else ("code",)


class ApprovalLimitForm(ModelForm[ApprovalLimit]):
    class Meta:
        model = ApprovalLimit
        fields = ("agent", "amount", "currency")

    def clean_currency(self) -> str:
        code: str = self.cleaned_data["currency"].upper()
        if code not in CURRENCIES:
            raise ValidationError(gettext("Enter an ISO 4217 code, such as EUR or MXN."))
        return code

    def clean_amount(self) -> Any:
        amount = self.cleaned_data["amount"]
        if amount > MOST:
            raise ValidationError(gettext("Enter at most %(most)s.") % {"most": f"{MOST:,f}"})
        return amount


@admin.register(ApprovalLimit)
class ApprovalLimitAdmin(ModelAdmin):
    form = ApprovalLimitForm
    list_display = ("agent_name", "amount_text", "currency")
    list_select_related = ("agent__user",)
    fields = ("agent", ("amount", "currency"))
    list_per_page = 50
    show_facets = admin.ShowFacets.NEVER

    @admin.display(description=_("amount"), ordering="amount")
    def amount_text(self, limit: ApprovalLimit) -> str:
        return money_number(limit.amount, limit.currency)

    @admin.display(description=_("agent"), ordering=ReadingOrder("agent__user__username"))
    def agent_name(self, limit: ApprovalLimit) -> str:
        return str(limit.agent) if limit.agent else gettext("all agents")
