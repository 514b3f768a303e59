"""Answers that wait before they reach a company, so that they can be undone (decision N18).

They are checked before they wait: a refusal comes at once.
"""

from collections.abc import Iterable
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from tickets import working
from tickets.assignment import taking
from tickets.changes.decisions import Decision
from tickets.changes.files import NewFile
from tickets.changes.news import rehearse
from tickets.changes.page_tokens import PageToken
from tickets.changes.writes import MoveRefused, StaleTicket
from tickets.models import PendingAnswer, Ticket, UnfinishedFile
from tickets.money import Amounts, amounts_as_texts
from tickets.statuses import Status
from tickets.working import AgentReply

Kind = PendingAnswer.Kind


def decision_fields(decision: Decision) -> dict[str, Any]:
    amounts = decision.amounts
    texts = None if amounts is None else amounts_as_texts(amounts)
    return {"code": decision.code, "amounts": texts and {n: t or "" for n, t in texts.items()}}


def decision_of(answer: PendingAnswer) -> Decision:
    if answer.amounts is None:
        return Decision(code=answer.code)
    texts = dict(answer.amounts)
    currency = texts.pop("currency")
    numbers = {name: Decimal(text) if text else None for name, text in texts.items()}
    return Decision(code=answer.code, amounts=Amounts(**numbers, currency=currency))


def new_files(answer: PendingAnswer) -> list[NewFile]:
    return [NewFile(**one) for one in answer.files]


@transaction.atomic
def send_or_keep(answer: PendingAnswer) -> None:
    """Keep an answer that reaches the company for UNDO_SECONDS; send others at once.

    An answer that was undone is sent again in its own row. Raises what `perform` raises,
    StaleTicket if that row is gone, and MoveRefused if another answer waits for the ticket.
    """
    # Lock first: the second of two simultaneous senders must find the first one's row.
    Ticket.objects.hold(answer.ticket_id)
    rows = PendingAnswer.objects.filter(pk=answer.pk)
    before = rows.returned().select_for_update(no_key=True).first()
    if answer.pk and before is None:
        raise StaleTicket(gettext("This was sent or discarded on another page."))
    if before is not None:
        before.leave_files()
    if answer.reaches_company:
        refuse_second(answer)
    if settings.UNDO_SECONDS and answer.reaches_company:
        keep_answer(answer)
    else:
        rows.delete()
        perform(answer)


def keep_answer(answer: PendingAnswer) -> None:
    """Rehearse an answer, and store it until it is due."""
    rehearse(partial(perform, answer))
    names = [one["stored_as"] for one in answer.files]
    UnfinishedFile.objects.filter(name__in=names).delete()
    answer.due_at = timezone.now() + timedelta(seconds=settings.UNDO_SECONDS)
    answer.held = ""
    answer.save()


def refuse_second(answer: PendingAnswer) -> None:
    """Check that no other answer waits for the ticket. Raises MoveRefused."""
    waiting = PendingAnswer.objects.waiting().filter(ticket=answer.ticket_id).first()
    if waiting is None:
        return
    if waiting.user_id == answer.user_id:
        text = gettext("Your last answer to this ticket waits. Send it now, or take it back.")
        raise MoveRefused(text)
    text = gettext("%(name)s is about to send an answer to this ticket.")
    raise MoveRefused(text % {"name": waiting.user.get_username()})


def perform(answer: PendingAnswer) -> None:
    """Send an answer. Raises what the services of `tickets.working` raise, and FileRefused.

    An agent who replies to an unassigned open ticket gets it, even above their capacity.
    """
    ticket_id, user = answer.ticket_id, answer.user
    token, text = PageToken.read(answer.seen), answer.text
    if answer.kind in (Kind.ACCEPT, Kind.REFUSE):
        accept, alone = answer.kind == Kind.ACCEPT, answer.alone
        working.decide_appeal(
            ticket_id, accept=accept, user=user, reason=text, seen=token, alone=alone
        )
        return
    to = None if answer.to is None else Status(answer.to)
    further: Any = {"user": user, "seen": token, "requested": answer.requested}
    further["decision"] = decision_of(answer)
    if answer.kind == Kind.MOVE and to is not None:
        working.move(ticket_id, to, reason=text, **further)
        return
    files, public = new_files(answer), answer.public
    reply = AgentReply(ticket_id=ticket_id, text=text, public=public, to=to, files=files, **further)
    working.answer(reply)
    if public:
        taking.take_by_reply(ticket_id, user)


@transaction.atomic
def take_back_batch(user: User, batch: UUID) -> list[PendingAnswer]:
    """Undo the answers of a batch that still wait, and return them."""
    waiting = PendingAnswer.objects.waiting().filter(user=user, batch=batch)
    answers = list(waiting.select_for_update(no_key=True).order_by("pk"))
    PendingAnswer.objects.filter(pk__in=[one.pk for one in answers]).update(due_at=None)
    return answers


def replace_returned(answer: PendingAnswer, batch: UUID) -> PendingAnswer:
    """Let an answer replace the one that was undone or held in the batch, and return that one.

    Raises StaleTicket if its row is gone.
    """
    mine = PendingAnswer.objects.returned().filter(user=answer.user, batch=batch)
    returned = mine.filter(ticket=answer.ticket_id).first()
    if returned is None:
        raise StaleTicket(gettext("This was sent or discarded on another page."))
    answer.pk, answer.batch = returned.pk, returned.batch
    return returned


def restart_wait(user: User, batch: UUID) -> None:
    """Restart the time in which a batch can be undone."""
    due_at = timezone.now() + timedelta(seconds=settings.UNDO_SECONDS)
    PendingAnswer.objects.waiting().filter(user=user, batch=batch).update(due_at=due_at)


def answers_of_ticket(ticket_id: int) -> list[PendingAnswer]:
    answers = PendingAnswer.objects.filter(ticket=ticket_id).select_related("user")
    return list(answers.order_by("pk"))


def about_to_send(answers: Iterable[PendingAnswer], user: User) -> list[str]:
    """Describe the answers of other agents to a ticket that wait or are held."""
    lines = []
    for one in answers:
        if one.user_id == user.pk or (one.due_at is None and not one.held):
            continue
        text = gettext("%(name)s is about to send: %(what)s")
        if one.due_at is None:
            text = gettext("Held, not sent by %(name)s: %(what)s")
        lines.append(text % {"name": one.user.get_username(), "what": one})
    return lines
