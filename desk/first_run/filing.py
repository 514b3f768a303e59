"""Step for filing days of carriers, without which no ticket has a claim deadline."""

from django.db import transaction
from django.utils.translation import gettext_lazy
from unfold.widgets import (
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanWidget,
)

from desk.setup.sla_forms import FilingRuleForm
from tickets.models import FilingRule
from tickets.sla import recalculation


class FilingDaysForm(FilingRuleForm):
    class Meta(FilingRuleForm.Meta):
        labels = {
            "carrier_name": gettext_lazy("Carrier"),
            "type": gettext_lazy("Ticket type"),
            "days": gettext_lazy("Days"),
            "counts_from_delivery": gettext_lazy("Counts from delivery"),
        }
        widgets = {
            "carrier_name": UnfoldAdminTextInputWidget(
                attrs={"list": "carriers", "autocomplete": "off"}
            ),
            "type": UnfoldAdminSelectWidget,
            "days": UnfoldAdminIntegerFieldWidget(attrs={"min": 1}),
            "counts_from_delivery": UnfoldBooleanWidget,
        }


@transaction.atomic
def add_filing_rule(form: FilingDaysForm) -> FilingRule:
    """Save a valid form, and recalculate the claim deadlines of open tickets."""
    rule: FilingRule = form.save()
    recalculation.rules_changed()
    return rule
