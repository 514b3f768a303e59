"""What statuses and moves are called, in the language of whoever reads it.

Their English words stand in `tickets/statuses.py`, which knows no framework. Here translators find
them; the API is in English, whatever language the desk is in (decision N21).
"""

from typing import TYPE_CHECKING

from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_lazy, gettext_noop, pgettext_lazy

from tickets.statuses import AGENT_MOVES, Status

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

TRANSLATED = {
    gettext_noop("Pending"),
    gettext_noop("Accepted"),
    gettext_noop("Declined"),
    gettext_noop("Incomplete"),
    gettext_noop("Follow up"),
    gettext_noop("In review"),
    gettext_noop("Claim in review"),
    gettext_noop("Accept"),
    gettext_noop("Decline"),
    gettext_noop("Request information"),
    gettext_noop("Review"),
    # Of `tickets.rules`.
    gettext_noop("Send a date as YYYY-MM-DD."),
    gettext_noop("Send an http or https URL."),
}
# What an action of a queue says: whole sentences, where translators know the move.
MOVE_SELECTED = {
    Status.ACCEPTED: gettext_lazy("Accept selected tickets"),
    Status.DECLINED: gettext_lazy("Decline selected tickets"),
    Status.INCOMPLETE: gettext_lazy("Request information on selected tickets"),
    Status.IN_REVIEW: gettext_lazy("Review selected tickets"),
}
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


def move_selected(to: Status) -> "StrPromise":
    """What the action of a queue says."""
    if to in MOVE_SELECTED:
        return MOVE_SELECTED[to]
    return format_lazy("{} {}", AGENT_MOVES[to].verb, gettext_lazy("selected tickets"))


def move_verb(to: Status) -> str:
    """What the button of an agent's move says."""
    return gettext(AGENT_MOVES[to].verb)
