"""Sending of answers that can no longer be undone: each exactly once, or it is held.

An answer is sent by the same services as one that does not wait, in the transaction that deletes
its row. So it is sent once or not at all, even if two processes try or one is killed.
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
from tickets.assignment.reassigning import AssignmentRefused
from tickets.changes.actors import SYSTEM, NotAllowed
from tickets.changes.appeals import NoAppeal
from tickets.changes.notifications import notify
from tickets.changes.writes import MoveRefused, StaleTicket
from tickets.models import Agent, Notification, PendingAnswer

logger = logging.getLogger(__name__)

# Answers per run of the job; further ones are for the next run, so that other jobs get a turn.
MOST_AT_ONCE = 200
# A request sends the rest of a batch itself for this long at most; the job sends the others.
MOMENT_SECONDS = 1.0
REFUSALS = (
    StaleTicket,
    MoveRefused,
    NotAllowed,
    AssignmentRefused,
    NoAppeal,
    FileRefused,
    ValueError,
)


def has_due_answers() -> bool:
    return PendingAnswer.objects.due().exists()


def send_due_answers() -> int:
    """Send the due answers, round-robin over the agents; return how many were tried.

    An answer that fails does not stop the others.
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
    """Send a due answer if it is still there; hold it if it is refused.

    Raises OperationalError or InterfaceError if the database is away.
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
            # The ticket's lock was not free in time: the next run retries.
            logger.warning("answer %d cannot leave yet", answer_id, exc_info=True)
        except Exception:
            logger.exception("answer %d cannot leave", answer_id)
            hold_answer(answer, UNFORESEEN)


@transaction.atomic
def send_due_answer(answer_id: int) -> None:
    """Send a due answer and delete its row; a second caller waits for the lock and does nothing."""
    due = PendingAnswer.objects.filter(pk=answer_id, due_at__lte=timezone.now())
    answer = due.select_for_update(no_key=True, of=("self",)).select_related("user").first()
    if answer is None:
        return
    answer.leave_files()
    answer.delete()
    if answer.ticket.company.erased_at is None:
        perform(answer)


def refuse_lost_files(answer: PendingAnswer) -> None:
    """Check, outside a transaction, that the storage has the files. Raises FileRefused."""
    for file in new_files(answer):
        if not storage.has_file(file.stored_as):
            text = gettext("%(name)s: the file is gone. Attach it again.") % {"name": file.name}
            raise FileRefused(text, code="file_gone")


@transaction.atomic
def hold_answer(answer: PendingAnswer, reason: str) -> None:
    """Hold an answer that could not be sent, and notify its agent."""
    rows = PendingAnswer.objects.filter(pk=answer.pk, due_at=answer.due_at)
    if rows.update(due_at=None, held=reason):
        agents = Agent.objects.filter(user=answer.user_id).values_list("pk", flat=True)
        notify(answer.ticket, agents, Notification.Kind.HELD, by=SYSTEM)


def send_batch(user: User, batch: UUID) -> None:
    """Send a batch now: for MOMENT_SECONDS in this process, the rest in a worker."""
    now, until = timezone.now(), monotonic() + MOMENT_SECONDS
    waiting = PendingAnswer.objects.waiting().filter(user=user, batch=batch)
    if waiting.filter(due_at__gt=now).update(due_at=now) > 1:
        doorbell.ring_job("send_answers")
    for answer_id in list(waiting.order_by("pk").values_list("pk", flat=True)):
        if monotonic() < until:
            send_answer(answer_id)
