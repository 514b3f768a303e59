"""Words that several rooms of the desk use, in the language of whoever reads them."""

from django.utils.translation import gettext, gettext_noop

from deliveries.models import State

STATES = {
    State.WAITING: gettext_noop("waiting"),
    State.DELIVERED: gettext_noop("delivered"),
    State.GIVEN_UP: gettext_noop("given up"),
    State.CANCELLED: gettext_noop("cancelled"),
}


def state_words(state: int) -> str:
    """How a delivery is, in a word."""
    words = STATES[State(state)]
    return gettext(words)
