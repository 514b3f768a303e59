"""What agents send from a ticket's page: said and moved in one transaction, and once."""

from datetime import timedelta
from uuid import UUID, uuid5

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from desk.ticket import pending, visits
from tickets import working
from tickets.changes.actors import actor_for
from tickets.models import Comment, PendingAnswer

# The same words within this time are more often a slip than meant.
SAME_TEXT = timedelta(minutes=1)
# Other words from the same form are another answer.
SAID = ("kind", "text", "public", "to", "requested", "code", "amounts")


class SentBefore(ValueError):
    """The agent has just sent the same text to the same ticket."""


@transaction.atomic
def submit_answer(answer: PendingAnswer, *, key: UUID | None = None, again: bool = True) -> bool:
    """Write, move, or both; False if this very form has been taken before.

    What reaches the company waits until it can no longer be taken back. Raises what
    `pending.send_or_keep` raises, and SentBefore unless the same text may go `again`.
    """
    actor_for(answer.user)
    if not first_time(answer, key):
        return False
    # The visit's row is locked: of two tabs the second sees what the first has sent.
    if not again and sent_just_now(answer):
        raise SentBefore(gettext("You sent the same text to this ticket a moment ago."))
    pending.send_or_keep(answer)
    return True


def sent_just_now(answer: PendingAnswer) -> bool:
    """Tell whether the agent's newest message to the ticket begins with this text, and is new."""
    text = working.said(answer.text)
    mine = Comment.objects.filter(ticket=answer.ticket_id, actor=answer.user.get_username())
    since = timezone.now() - SAME_TEXT
    newest = mine.filter(public=answer.public, created_at__gte=since).last()
    return bool(text) and newest is not None and f"{newest.text}\n".startswith(f"{text}\n")


def first_time(answer: PendingAnswer, key: UUID | None) -> bool:
    """Tell whether a form was not taken before; one without a key is always new."""
    if key is None:
        return True
    said = [getattr(answer, name) for name in SAID] + [one["sha256"] for one in answer.files]
    return visits.is_first_submission(answer.ticket_id, answer.user, uuid5(key, repr(said)))
