"""The automations at work: each has its turn, and looks at so many tickets in it.

Each remembers where it stopped and goes on from there: tickets that it will never touch, such as
those whose reminders are used up, keep no other waiting.
"""

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from django.db.models import F, Q
from django.utils import timezone

from core.jobs.failing_rows import FailingRows
from tickets.automations.acting import act
from tickets.automations.due import candidates, due, order_of
from tickets.models import Automation

# So many does a run touch, of all automations, and so many does each look at.
MOST_AT_ONCE = 200
MOST_LOOKED_AT = 2_000


def run_automations() -> int:
    """Do what is due, a transaction for each ticket; returns for how many.

    Several may run at a time. A ticket that fails is passed over until the next round.
    """
    rows, done = FailingRows("run_automations"), 0
    on = Automation.objects.filter(active=True)
    for one in on.order_by(F("ran_at").asc(nulls_first=True), "pk"):
        if done >= MOST_AT_ONCE:
            break
        done += run_one(one, rows, MOST_AT_ONCE - done)
    return done


def run_one(one: Automation, rows: FailingRows, most: int) -> int:
    """Do at most so many of what is due, and keep_position where to go on."""
    now = timezone.now()
    looked = look(one, now)
    ids = [pk for _, pk in looked]
    found = set(due(one, now).filter(pk__in=ids).values_list("pk", flat=True)) if ids else set()
    chosen = [(at, pk) for at, pk in looked if pk in found][:most]
    done: list[int] = []
    for _, ticket_id in chosen:
        rows.do("ticket", [ticket_id], partial(act_on, one.pk, done))
    position = chosen[-1] if len(chosen) == most else None
    if position is None and len(looked) == MOST_LOOKED_AT:
        position = looked[-1]
    keep_position(one, position)
    return len(done)


def look(one: Automation, now: datetime) -> list[tuple[datetime, int]]:
    """The next tickets that may be due, after those that were looked at in the last turn."""
    order, tickets = order_of(one), candidates(one, now)
    if one.position:
        at, pk = one.position
        later = Q(**{f"{order}__gt": at}) | Q(**{order: at, "pk__gt": pk})
        tickets = tickets.filter(later, **{f"{order}__gte": at})
    return list(tickets.order_by(order, "pk").values_list(order, "pk")[:MOST_LOOKED_AT])


def act_on(automation_id: int, done: list[int], ticket_ids: Sequence[int]) -> None:
    done += [one for one in ticket_ids if act(automation_id, one)]


def keep_position(one: Automation, position: tuple[datetime, int] | None) -> None:
    at, pk = position or (None, None)
    Automation.objects.filter(pk=one.pk).update(ran_at=timezone.now(), looked_at=at, looked_id=pk)
