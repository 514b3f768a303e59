"""What statuses and moves are called, in the language of whoever reads it.

Their English words stand in `tickets/statuses.py`, which knows no framework. Here translators find
them; the API is in English, whatever language the desk is in (decision N21).
"""

from django.utils.translation import gettext, gettext_lazy, gettext_noop

from tickets.statuses import AGENT_MOVES, Status

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
}
# What an action of a queue says, by where it moves to.
MOVE_SELECTED = {
    Status.ACCEPTED: gettext_lazy("Accept selected tickets"),
    Status.DECLINED: gettext_lazy("Decline selected tickets"),
    Status.INCOMPLETE: gettext_lazy("Request information on selected tickets"),
    Status.IN_REVIEW: gettext_lazy("Review selected tickets"),
}
# For models, which are made before anybody has a language.
STATUS_CHOICES = [(status.value, gettext_lazy(status.label)) for status in Status]


def status_label(status: int) -> str:
    return gettext(Status(status).label)


def move_verb(to: Status) -> str:
    """What the button of an agent's move says."""
    return gettext(AGENT_MOVES[to].verb)
