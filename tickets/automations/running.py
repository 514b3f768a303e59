"""Execution of the automations: each has its turn, in which it examines a batch of tickets.

Each stores its position and continues from there, so that tickets which it will never touch, such
as those whose reminders are used up, do not block others.
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

# Tickets that a run touches for all automations, and that each automation examines.
MOST_AT_ONCE = 200
MOST_LOOKED_AT = 2_000


def run_automations() -> int:
    """Do what is due, in a transaction per ticket; returns the number of tickets touched.

    May run concurrently. A ticket that fails is skipped until the next round.
    """
    rows = FailingRows("run_automations")
    touched = 0
    on = Automation.objects.filter(active=True)
    for one in on.order_by(F("ran_at").asc(nulls_first=True), "pk"):
        if touched >= MOST_AT_ONCE:
            break
        touched += run_one(one, rows, MOST_AT_ONCE - touched)
    return touched


def run_one(one: Automation, rows: FailingRows, most: int) -> int:
    """Touch at most `most` due tickets, and store the position to continue from."""
    now = timezone.now()
    examined = next_candidates(one, now)
    ids = [pk for _, pk in examined]
    due_ids = set(due(one, now).filter(pk__in=ids).values_list("pk", flat=True)) if ids else set()
    chosen = [(at, pk) for at, pk in examined if pk in due_ids][:most]
    touched: list[int] = []
    for _, ticket_id in chosen:
        rows.do("ticket", [ticket_id], partial(act_on, one.pk, touched))
    position = chosen[-1] if len(chosen) == most else None
    if position is None and len(examined) == MOST_LOOKED_AT:
        position = examined[-1]
    save_position(one, position)
    return len(touched)


def next_candidates(one: Automation, now: datetime) -> list[tuple[datetime, int]]:
    """Return the next tickets that may be due, after those of the previous turn."""
    order, tickets = order_of(one), candidates(one, now)
    if one.position:
        at, pk = one.position
        later = Q(**{f"{order}__gt": at}) | Q(**{order: at, "pk__gt": pk})
        tickets = tickets.filter(later, **{f"{order}__gte": at})
    return list(tickets.order_by(order, "pk").values_list(order, "pk")[:MOST_LOOKED_AT])


def act_on(automation_id: int, touched: list[int], ticket_ids: Sequence[int]) -> None:
    touched += [one for one in ticket_ids if act(automation_id, one)]


def save_position(one: Automation, position: tuple[datetime, int] | None) -> None:
    at, pk = position or (None, None)
    Automation.objects.filter(pk=one.pk).update(ran_at=timezone.now(), looked_at=at, looked_id=pk)
