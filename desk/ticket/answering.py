"""What agents send from a ticket's page: said and moved in one transaction, and once."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID, uuid5

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from desk.ticket import visits
from tickets import working
from tickets.assignment import taking
from tickets.changes.actors import actor_for
from tickets.changes.decisions import UNSAID, Decision
from tickets.changes.seen import Seen
from tickets.models import Comment
from tickets.statuses import Status
from tickets.working import AgentReply

# The same words within this time are more often a slip than meant.
SAME_TEXT = timedelta(minutes=1)


class SentBefore(ValueError):
    """The agent has just sent the same text to the same ticket."""


@transaction.atomic
def send_reply(reply: AgentReply, *, again: bool = True) -> bool:
    """Write, move, or both; False if this very form has been taken before.

    Who replies to an open ticket that nobody has gets it, whatever they carry. Raises what
    `working.answer` raises, and SentBefore unless the same text may go `again`.
    """
    actor_for(reply.user)
    said = (
        reply.text,
        reply.public,
        reply.to,
        list(reply.requested),
        reply.decision,
        [one.sha256 for one in reply.files],
    )
    if not first_time(reply.ticket_id, reply.user, reply.key, said):
        return False
    # The visit's row is locked: of two tabs the second sees what the first has sent.
    if not again and sent_just_now(reply):
        raise SentBefore(gettext("You sent the same text to this ticket a moment ago."))
    working.answer(reply)
    if reply.public:
        taking.take_by_reply(reply.ticket_id, reply.user)
    return True


def sent_just_now(reply: AgentReply) -> bool:
    """Tell whether the agent's newest message to the ticket begins with this text, and is new."""
    text = working.said(reply.text)
    mine = Comment.objects.filter(ticket=reply.ticket_id, actor=reply.user.get_username())
    newest = mine.filter(public=reply.public, created_at__gte=timezone.now() - SAME_TEXT).last()
    return bool(text) and newest is not None and f"{newest.text}\n".startswith(f"{text}\n")


@transaction.atomic
def send_move(
    ticket_id: int,
    to: Status,
    *,
    user: User,
    reason: str = "",
    seen: Seen | None = None,
    requested: Sequence[str] = (),
    decision: Decision = UNSAID,
    key: UUID | None = None,
) -> bool:
    """Move; False if this very form has been taken before. Raises what `working.move` raises."""
    actor_for(user)
    if not first_time(ticket_id, user, key, (to, reason, list(requested), decision)):
        return False
    working.move(
        ticket_id,
        to,
        user=user,
        reason=reason,
        seen=seen,
        requested=requested,
        decision=decision,
    )
    return True


def first_time(ticket_id: int, user: User, key: UUID | None, said: tuple[object, ...]) -> bool:
    """Other words from the same form are another answer; a form without a key is always new."""
    return key is None or visits.is_first_submission(ticket_id, user, uuid5(key, repr(said)))
