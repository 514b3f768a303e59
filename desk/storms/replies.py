"""Reply to all tickets of a storm: idempotent, sent in batches, resumable after a crash."""

from collections.abc import Sequence
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext

from core.jobs import doorbell
from core.jobs.failing_rows import FailingRows
from core.values.texts import is_blank
from desk.models import Storm, StormReply
from desk.storms.services import StormRefused, require_storm_lead
from tickets import working
from tickets.changes.actors import NotAllowed
from tickets.changes.mentions import user_name_refusal
from tickets.models import Ticket
from tickets.statuses import TERMINAL

# Tickets per transaction, so that none stays locked for long; larger storms go to a worker.
AT_ONCE = 50
# Transactions per run of the task, so that other tasks have their turn.
BATCHES = 10
TASK = "answer_storms"
Link = Storm.tickets.through


@transaction.atomic
def start_reply(storm_id: int, text: str, *, user: User, key: UUID) -> StormReply:
    """Reply to every ticket that is linked now and still open when the reply is sent.

    `key` makes a repeated form idempotent. Up to AT_ONCE tickets are answered before returning,
    more by a worker. Raises NotAllowed, StormRefused and Storm.DoesNotExist.
    """
    require_storm_lead(user)
    if is_blank(text):
        raise StormRefused(gettext("Write something."))
    if refusal := user_name_refusal(text):
        raise StormRefused(refusal)
    # Linking also locks the storm, so `upto` includes every linked ticket.
    storm = Storm.objects.select_for_update(no_key=True).get(pk=storm_id)
    if (existing := StormReply.objects.filter(key=key).first()) is not None:
        return existing
    if storm.state != Storm.State.OPEN:
        text = gettext("This storm is not open (%(state)s). Only open storms can be answered.")
        raise StormRefused(text % {"state": storm.get_state_display()})
    links = Link.objects.filter(storm=storm)
    upto = links.aggregate(last=Max("pk"))["last"] or 0
    reply = StormReply.objects.create(storm=storm, key=key, text=text.strip(), user=user, upto=upto)
    if links.count() <= AT_ONCE:
        answer_batch(reply.pk)
        reply.refresh_from_db()
    else:
        transaction.on_commit(ring_reply_job, robust=True)
    return reply


def ring_reply_job() -> None:
    doorbell.ring_job(TASK, expires=60)


def continue_replies() -> int:
    """Continue unfinished replies, oldest first, with a transaction per batch.

    Returns the number of batches, at most BATCHES.
    """
    rows, batches, more = FailingRows(TASK), 0, False

    def answer(reply_ids: Sequence[int]) -> None:
        nonlocal more
        more = answer_batch(*reply_ids)

    unfinished = StormReply.objects.filter(finished_at=None).order_by("pk")
    # Replies that failed before come last, so that they do not hold up others.
    ids = sorted(
        unfinished.values_list("pk", flat=True), key=lambda one: has_failed_before(rows, one)
    )
    for reply_id in ids[:BATCHES]:
        more = True
        while more and batches < BATCHES:
            batches += 1
            more = False
            rows.do("reply", [reply_id], answer)
    return batches


def has_failed_before(rows: FailingRows, reply_id: int) -> bool:
    return ("reply", str(reply_id)) in rows.earlier_failures


@transaction.atomic
def answer_batch(reply_id: int) -> bool:
    """Answer the next batch and save the position; returns whether tickets may be left."""
    reply = StormReply.objects.select_for_update(no_key=True).get(pk=reply_id)
    if reply.finished_at is not None:
        return False
    links = Link.objects.filter(storm=reply.storm_id, pk__gt=reply.at, pk__lte=reply.upto)
    batch = dict(links.order_by("pk").values_list("pk", "ticket_id")[:AT_ONCE])
    try:
        require_storm_lead(reply.user)
        answer_tickets(reply, sorted(batch.values()))
    except NotAllowed as error:
        reply.stopped, batch = str(error), {}
    reply.at = max(batch, default=reply.upto)
    if len(batch) < AT_ONCE:
        reply.finished_at = timezone.now()
    reply.save(update_fields=["at", "answered", "closed", "failed", "stopped", "finished_at"])
    return reply.finished_at is None


def answer_tickets(reply: StormReply, ticket_ids: list[int]) -> None:
    """Answer tickets in the order of their ids, which avoids deadlocks. Raises NotAllowed.

    Tickets that fail are skipped and recorded in `reply.failed` with the reason.
    """

    def answer(part: Sequence[int]) -> None:
        answered = sum(answer_one(reply, ticket_id) for ticket_id in part)
        reply.answered += answered
        reply.closed += len(part) - answered

    rows = FailingRows(TASK)
    rows.do("ticket", ticket_ids, answer, not_theirs=(NotAllowed,))
    reply.failed |= {key: error for (_, key), error in rows.failed.items()}


def answer_one(reply: StormReply, ticket_id: int) -> bool:
    """Answer a ticket unless it is decided; returns whether it was answered."""
    if Ticket.objects.hold(ticket_id).status in TERMINAL:
        return False
    working.write(ticket_id, reply.text, user=reply.user, public=True)
    return True
