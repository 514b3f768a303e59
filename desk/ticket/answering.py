"""Answers sent from a ticket's page: message and move in one transaction, exactly once."""

from datetime import timedelta
from uuid import UUID, uuid5

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from desk.ticket import pending, visits
from tickets import working
from tickets.changes.actors import actor_for
from tickets.models import Comment, PendingAnswer

# The same text again within this time is more often a slip than intended.
SAME_TEXT = timedelta(minutes=1)
# A form sent again with other values in these fields is a new answer, not a repeat.
CONTENT_FIELDS = ("kind", "text", "public", "to", "requested", "code", "amounts")


class SentBefore(ValueError):
    """The agent has just sent the same text to the same ticket."""


@transaction.atomic
def submit_answer(answer: PendingAnswer, *, key: UUID | None = None, again: bool = True) -> bool:
    """Send a message, a move, or both; return False if this form was accepted before.

    Whatever reaches the company waits until it can no longer be undone. Raises what
    `pending.send_or_keep` raises, and, unless `again` is set, SentBefore for a repeated text.
    """
    actor_for(answer.user)
    if not first_time(answer, key):
        return False
    # first_time() has locked the visit's row, so a second tab sees what the first one sent.
    if not again and sent_just_now(answer):
        raise SentBefore(gettext("You sent the same text to this ticket a moment ago."))
    pending.send_or_keep(answer)
    return True


def sent_just_now(answer: PendingAnswer) -> bool:
    """Check if the agent sent the same text to the ticket within SAME_TEXT."""
    text = working.normalize_text(answer.text)
    mine = Comment.objects.filter(ticket=answer.ticket_id, actor=answer.user.get_username())
    since = timezone.now() - SAME_TEXT
    newest = mine.filter(public=answer.public, created_at__gte=since).last()
    return bool(text) and newest is not None and f"{newest.text}\n".startswith(f"{text}\n")


def first_time(answer: PendingAnswer, key: UUID | None) -> bool:
    """Record a form; return False if it was accepted before. Without a key it is always new."""
    if key is None:
        return True
    content = [getattr(answer, name) for name in CONTENT_FIELDS]
    content += [file["sha256"] for file in answer.files]
    return visits.is_first_submission(answer.ticket_id, answer.user, uuid5(key, repr(content)))
