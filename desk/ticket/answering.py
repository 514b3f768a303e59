"""What agents send from a ticket's page: said and moved in one transaction, and once."""

from collections.abc import Sequence
from uuid import UUID, uuid5

from django.contrib.auth.models import User
from django.db import transaction

from desk.ticket import visits
from tickets import working
from tickets.assignment import taking
from tickets.changes.actors import actor_for
from tickets.changes.decisions import UNSAID, Decision
from tickets.changes.seen import Seen
from tickets.statuses import Status
from tickets.working import AgentReply


@transaction.atomic
def send_reply(reply: AgentReply) -> bool:
    """Write, move, or both; False if this very form has been taken before.

    Who replies to an open ticket that nobody has gets it, whatever they carry. Raises what
    `working.answer` raises.
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
    working.answer(reply)
    if reply.public:
        taking.take_by_reply(reply.ticket_id, reply.user)
    return True


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
