"""Forms of a claim: the reason code of a decision, and the amounts."""

from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from tickets.changes.decisions import Decision
from tickets.models.decisions import LONGEST_CODE
from tickets.money import MOST, PLACES, Amounts
from tickets.statuses import TERMINAL, Status


class AmountField(forms.DecimalField):
    """Optional amount of money."""

    widget = forms.NumberInput(attrs={"step": "any", "min": "0", "inputmode": "decimal"})

    def __init__(self, **options: Any) -> None:
        super().__init__(
            required=False,
            min_value=0,
            max_value=MOST,
            decimal_places=PLACES,
            max_digits=14,
            **options,
        )


class AmountsForm(forms.Form):
    """Amounts claimed, offered and paid; `amounts` is None if the form had no currency field."""

    claimed = AmountField(label=_("Claimed"))
    offered = AmountField(label=_("Offered"))
    paid = AmountField(label=_("Paid"))
    currency = forms.CharField(label=_("Currency"), required=False, max_length=3)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        amounts = {name: cleaned.get(name) for name in ("claimed", "offered", "paid")}
        currency = (cleaned.get("currency") or "").upper()
        cleaned["amounts"] = (
            Amounts(**amounts, currency=currency) if "currency" in self.data else None
        )
        return cleaned


class DecisionForm(AmountsForm):
    """Reason code and amounts of a decision; the service checks whether they fit the ticket."""

    code = forms.CharField(label=_("Reason code"), required=False, max_length=LONGEST_CODE)
    # Target status, for forms without the field `to` that the composer has.
    moves_to: Status | None = None

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        if cleaned.get("to", self.moves_to) in TERMINAL and not cleaned.get("code"):
            self.add_error("code", gettext("Reason code: choose one."))
        cleaned["decision"] = Decision(
            code=cleaned.get("code") or "", amounts=cleaned.get("amounts")
        )
        return cleaned
