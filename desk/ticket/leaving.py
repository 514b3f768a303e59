"""Answers that can no longer be taken back leave: each once, or it is held for its agent.

An answer is sent by the services that would have sent it at once, in the transaction that deletes
its row: so it leaves once or not at all, whoever sends it and wherever that process is killed.
"""

import logging
from time import monotonic
from uuid import UUID

from django.contrib.auth.models import User
from django.db import InterfaceError, OperationalError, transaction
from django.utils import timezone, translation
from django.utils.translation import gettext

from core.files import storage
from core.files.refusals import FileRefused
from core.jobs import doorbell
from core.jobs.failing_rows import UNFORESEEN, connection_lives
from desk.people.language import look_up_reading
from desk.ticket.pending import new_files, perform
from tickets.assignment.reassigning import NotGiven
from tickets.changes.actors import SYSTEM, NotAllowed
from tickets.changes.appeals import NoAppeal
from tickets.changes.notifications import notify
from tickets.changes.writes import MoveRefused, StaleTicket
from tickets.models import Agent, Notification, PendingAnswer

logger = logging.getLogger(__name__)

# Answers sent in one run of the task; then whatever else waits in the queue has its turn.
MOST_AT_ONCE = 200
# A request spends this long at most on what is left of a batch.
MOMENT_SECONDS = 1.0
REFUSALS = (StaleTicket, MoveRefused, NotAllowed, NotGiven, NoAppeal, FileRefused, ValueError)


def has_due_answers() -> bool:
    """Return whether the time of any answer has come."""
    return PendingAnswer.objects.due().exists()


def send_due_answers() -> int:
    """Send the answers whose time has come: one of each agent, in turns.

    None that cannot be sent keeps another. Returns how many were tried.
    """
    tried: set[int] = set()
    due = PendingAnswer.objects.due()
    turns = due.order_by("user", "due_at", "pk").distinct("user").values_list("pk", flat=True)
    while len(tried) < MOST_AT_ONCE and (turn := list(turns.exclude(pk__in=tried))):
        for answer_id in turn:
            send_answer(answer_id)
        tried.update(turn)
    return len(tried)


def send_answer(answer_id: int) -> None:
    """Send an answer whose time has come, if it is still there. What is refused is held.

    Raises what the database says when it is away.
    """
    answer = PendingAnswer.objects.select_related("user").filter(pk=answer_id).first()
    if answer is None:
        return
    with translation.override(look_up_reading(answer.user).language):
        try:
            refuse_lost_files(answer)
            send_due_answer(answer_id)
        except REFUSALS as refusal:
            hold_answer(answer, str(refusal))
        except (OperationalError, InterfaceError):
            if not connection_lives():
                raise
            # Somebody holds the ticket for long: the next run tries again.
            logger.warning("answer %d cannot leave yet", answer_id, exc_info=True)
        except Exception:
            logger.exception("answer %d cannot leave", answer_id)
            hold_answer(answer, UNFORESEEN)


@transaction.atomic
def send_due_answer(answer_id: int) -> None:
    """Send an answer that is due. The second of two who send it waits here, and finds it gone."""
    due = PendingAnswer.objects.filter(pk=answer_id, due_at__lte=timezone.now())
    answer = due.select_for_update(no_key=True, of=("self",)).select_related("user").first()
    if answer is None:
        return
    answer.leave_files()
    answer.delete()
    if answer.ticket.company.erased_at is None:
        perform(answer)


def refuse_lost_files(answer: PendingAnswer) -> None:
    """Raises FileRefused where the storage has lost a file; no transaction is open meanwhile."""
    for one in new_files(answer):
        if not storage.has_file(one.stored_as):
            text = gettext("%(name)s: the file is gone. Attach it again.") % {"name": one.name}
            raise FileRefused(text, code="file_gone")


@transaction.atomic
def hold_answer(answer: PendingAnswer, reason: str) -> None:
    """Keep an answer that could not leave for its agent, and notify them."""
    rows = PendingAnswer.objects.filter(pk=answer.pk, due_at=answer.due_at)
    if rows.update(due_at=None, held=reason):
        agents = Agent.objects.filter(user=answer.user_id).values_list("pk", flat=True)
        notify(answer.ticket, agents, Notification.Kind.HELD, by=SYSTEM)


def send_batch(user: User, batch: UUID) -> None:
    """Let a batch leave at once: what fits into a moment here, and the rest in a worker."""
    now, until = timezone.now(), monotonic() + MOMENT_SECONDS
    waiting = PendingAnswer.objects.waiting().filter(user=user, batch=batch)
    if waiting.filter(due_at__gt=now).update(due_at=now) > 1:
        doorbell.ring_job("send_answers")
    for answer_id in list(waiting.order_by("pk").values_list("pk", flat=True)):
        if monotonic() < until:
            send_answer(answer_id)
