"""Filters by days until a deadline, and by the claimed amount."""

import re
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext, gettext_lazy, ngettext, pgettext
from unfold.widgets import UnfoldAdminDecimalFieldWidget

from core.data.statements import distinct_values, read_rows
from core.values.currencies import CURRENCIES
from desk.common.cache import cached
from desk.common.claim_forms import AmountField
from desk.common.times import midnight
from desk.queue.field_filter import FieldFilter, SelectFilter
from tickets.models import Ticket
from tickets.models.ticket_indexes import NOT_DECIDED

PASSED = "passed"
OFFERED_DAYS = (0, 1, 3, 7, 14, 30)
DAYS = re.compile(r"\d{1,4}", re.ASCII)
CURRENCIES_FRESH_SECONDS = 60
CLAIMED_IN = distinct_values("tickets_ticket", "currency", "amount_claimed IS NOT NULL")


class DaysFilter(SelectFilter):
    """Open tickets whose deadline has passed, or will pass within N days.

    A day ends at midnight in the reader's time zone; 0 is the rest of today.
    """

    column = ""

    def problem(self) -> str:
        if not self.value() or self.value() == PASSED or DAYS.fullmatch(self.value()):
            return ""
        text = gettext("The filter “%(filter)s” takes a number of days, not “%(value)s”.")
        return text % {"filter": self.title, "value": self.value()}

    def offered(self) -> list[tuple[str, str]]:
        offered = [str(days) for days in OFFERED_DAYS]
        if DAYS.fullmatch(self.value()) and self.value() not in offered:
            offered.append(self.value())
        passed = (PASSED, pgettext("deadline", "passed"))
        return [passed, *((days, days_words(int(days))) for days in offered)]

    def narrow(self, tickets: QuerySet[Ticket], value: str) -> QuerySet[Ticket]:
        now = timezone.now()
        undecided = tickets.filter(NOT_DECIDED)
        if value == PASSED:
            return undecided.filter(**{f"{self.column}__lt": now})
        end = midnight(timezone.localdate() + timedelta(days=int(value) + 1))
        return undecided.filter(**{f"{self.column}__gte": now, f"{self.column}__lt": end})


def days_words(days: int) -> str:
    if not days:
        return gettext("today")
    return ngettext("within %(days)d day", "within %(days)d days", days) % {"days": days}


class DueIn(DaysFilter):
    title = gettext_lazy("due")
    parameter_name = "due_in"
    column = "due_at"


class ClaimIn(DaysFilter):
    title = gettext_lazy("claim deadline")
    parameter_name = "claim_in"
    column = "filing_due_at"


def currencies() -> list[str]:
    """Return the currencies in which something is claimed, cached."""

    def find() -> list[str]:
        return [currency for (currency,) in read_rows(f"{CLAIMED_IN} AND value <> ''")]

    return cached("currencies", CURRENCIES_FRESH_SECONDS, find)


class AmountFilter(FieldFilter):
    """A bound of the claimed amount, in the chosen currency or the only one in use."""

    lookup = ""

    def __init__(self, request: HttpRequest, *args: Any) -> None:
        super().__init__(request, *args)
        self.currency = request.GET.get("currency", "").strip().upper()

    def amount(self) -> Decimal | None:
        """Parse the amount. Raises ValidationError."""
        amount: Decimal | None = AmountField().clean(self.value())
        return amount

    def problem(self) -> str:
        try:
            amount = self.amount()
        except ValidationError:
            text = gettext("The filter “%(filter)s” takes an amount, not “%(value)s”.")
            return text % {"filter": self.title, "value": self.value()}
        if amount is not None and not self.currency and len(currencies()) > 1:
            return gettext("Choose the currency of the amount.")
        return ""

    def field(self) -> forms.Field:
        widget = UnfoldAdminDecimalFieldWidget(attrs={"type": "number", "step": "any", "min": "0"})
        return forms.CharField(label=capfirst(self.title), required=False, widget=widget)

    def narrow(self, tickets: QuerySet[Ticket], value: str) -> QuerySet[Ticket]:
        currency = self.currency or next(iter(currencies()), "")
        return tickets.filter(**{"currency": currency, self.lookup: self.amount()})


class AmountFrom(AmountFilter):
    title = gettext_lazy("claimed from")
    parameter_name = "amount_from"
    lookup = "amount_claimed__gte"


class AmountTo(AmountFilter):
    title = gettext_lazy("claimed up to")
    parameter_name = "amount_to"
    lookup = "amount_claimed__lte"


class CurrencyFilter(SelectFilter):
    title = gettext_lazy("currency")
    parameter_name = "currency"

    def read(self, values: list[str]) -> str:
        return values[-1].strip().upper()

    def problem(self) -> str:
        if not self.value() or self.value() in CURRENCIES:
            return ""
        text = gettext("The filter “%(filter)s” does not know %(values)s.")
        return text % {"filter": self.title, "values": self.value()}

    def offered(self) -> list[tuple[str, str]]:
        return [(one, one) for one in sorted({*currencies(), self.value()} - {""})]

    def narrow(self, tickets: QuerySet[Ticket], value: str) -> QuerySet[Ticket]:
        return tickets.filter(currency=value, amount_claimed__isnull=False)


RANGES = (DueIn, ClaimIn, AmountFrom, AmountTo, CurrencyFilter)
# Filters that select open tickets only.
OPEN_ONLY = (DueIn.parameter_name, ClaimIn.parameter_name)
