"""Labels of statuses, moves, types and amounts in the reader's language.

`tickets/statuses.py` has the English labels of statuses and moves, marked for translation. The API
is in English, whatever the language of the desk (decision N21).
"""

from typing import TYPE_CHECKING

from django.utils.translation import gettext, gettext_lazy, pgettext_lazy

from core.values.money import money_text
from tickets.money import Amounts
from tickets.statuses import AGENT_MOVES, Status

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

# Lazy, as models are imported before a language is active.
STATUS_CHOICES = [(status.value, gettext_lazy(status.label)) for status in Status]

# Types of a new installation. Operators add others, which are not translated.
TYPES = {
    "carrier": pgettext_lazy("ticket type", "carrier"),
    "overweight": pgettext_lazy("ticket type", "overweight"),
    "lost": pgettext_lazy("ticket type", "lost"),
    "damaged": pgettext_lazy("ticket type", "damaged"),
    "wrong_address": pgettext_lazy("ticket type", "wrong address"),
    "refund": pgettext_lazy("ticket type", "refund"),
    "delay": pgettext_lazy("ticket type", "delay"),
    "payment_pending": pgettext_lazy("ticket type", "payment pending"),
    "pobox_package": pgettext_lazy("ticket type", "pobox package"),
    "theft": pgettext_lazy("ticket type", "theft"),
    "redirection": pgettext_lazy("ticket type", "redirection"),
    "credit_line": pgettext_lazy("ticket type", "credit line"),
    "partial_refund": pgettext_lazy("ticket type", "partial refund"),
    "delivery_attempt": pgettext_lazy("ticket type", "delivery attempt"),
}


def type_label(name: str) -> str:
    """Return the name of a ticket type for use within a sentence."""
    return str(TYPES.get(name) or name.replace("_", " "))


def status_label(status: int) -> str:
    return gettext(Status(status).label)


def amount_lines(amounts: Amounts) -> list[tuple[str, str]]:
    """Return the amounts that are set, as pairs of name and text."""
    names = {"claimed": gettext("Claimed"), "offered": gettext("Offered"), "paid": gettext("Paid")}
    return [
        (names[name], money_text(amount, amounts.currency))
        for name, amount in amounts
        if amount is not None
    ]


def action_text(to: Status) -> "StrPromise":
    """Return the label of a move as an action on a list of tickets."""
    return gettext_lazy(AGENT_MOVES[to].action)


def move_verb(to: Status) -> str:
    """Return the label of a move's button."""
    return gettext(AGENT_MOVES[to].verb)
