"""What statuses, moves and types are called, in the language of whoever reads it.

The English words of statuses and moves stand in `tickets/statuses.py`, where translators find them;
the API is in English, whatever language the desk is in (decision N21).
"""

from typing import TYPE_CHECKING

from django.utils.translation import gettext, gettext_lazy, pgettext_lazy

from tickets.statuses import AGENT_MOVES, Status

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

# For models, which are made before anybody has a language.
STATUS_CHOICES = [(status.value, gettext_lazy(status.label)) for status in Status]


# The names of the types that a new service has. Operators add others in words of their own.
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
    """A ticket type as it stands in a sentence."""
    return str(TYPES.get(name) or name.replace("_", " "))


def status_label(status: int) -> str:
    return gettext(Status(status).label)


def action_text(to: Status) -> "StrPromise":
    """What the action over a list of tickets says."""
    return gettext_lazy(AGENT_MOVES[to].action)


def move_verb(to: Status) -> str:
    """What the button of an agent's move says."""
    return gettext(AGENT_MOVES[to].verb)
