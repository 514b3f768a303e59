"""Sends a choice of deliveries again: at once where they are few, else as a run, at a rate.

A run is a row. A job takes it a step further each second: one
transaction makes as many deliveries due as the rate allows and notes how far it is. A worker that
is killed leaves the step undone, and another does it. What is due is sent as everything else.
Why: decision page engine-sending-again-at-a-rate.
"""

import logging
from datetime import datetime, timedelta

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from deliveries import redelivery
from deliveries.engine import holding
from deliveries.models import Replay, State
from deliveries.upkeep.choosing import Choice, ChosenCount, Reached, next_part

logger = logging.getLogger(__name__)

# So many are sent at once, and need no confirmation.
FEW = 1_000
USUAL_RATE = 100
# Of a run, and of one statement.
MOST_A_SECOND = 1_000
STEP = timedelta(seconds=1)
# A run whose step fails is left alone for so long: it must not keep others from theirs.
AFTER_FAILURE = timedelta(minutes=1)
# A run that has not moved for so long stands still.
STILL = timedelta(minutes=2)


class NotConfirmed(Exception):
    """They are many, and nobody has said how many; `chosen` says it."""

    def __init__(self, chosen: ChosenCount) -> None:
        super().__init__(f"Not confirmed: these are {chosen.deliveries} deliveries.")
        self.chosen = chosen


class BadRate(ValueError):
    """The message says which rates there are."""


class NoReplay(ValueError):
    """There is no such run, or it has ended; the message says which."""


def send_chosen(
    choice: Choice,
    chosen: ChosenCount,
    *,
    by: str,
    rate: int | None = None,
    confirmed: int | None = None,
) -> Replay | int:
    """Send again what was chosen, and counted; returns the run, or how many are sent at once.

    More than FEW must be confirmed by their number. They become a run, as do fewer with a `rate`:
    deliveries a second. Raises NotConfirmed and BadRate.
    """
    if rate is not None and not 1 <= rate <= MOST_A_SECOND:
        raise BadRate(f"The rate is a number of deliveries a second, from 1 to {MOST_A_SECOND}.")
    if chosen.deliveries > FEW and confirmed != chosen.deliveries:
        raise NotConfirmed(chosen)
    if rate is None and chosen.deliveries <= FEW:
        return send_few(choice)
    return Replay.objects.create(
        by=by[:200],
        total=chosen.deliveries,
        rate=rate or USUAL_RATE,
        **{name: getattr(choice, name) for name in CHOICE},
    )


CHOICE = ("since", "until", "state", "webhook_id", "company_id", "type_id", "host")


@transaction.atomic
def send_few(choice: Choice) -> int:
    """All at once, as the engine must not see the newer of two events without the older."""
    sent, reached, last = 0, Reached(), False
    while not last:
        ids, reached, last = next_part(choice, reached, FEW)
        sent += redelivery.redeliver(ids)
    return sent


def choice_of(run: Replay) -> Choice:
    return Choice(**{name: getattr(run, name) for name in CHOICE} | {"state": State(run.state)})


def stop_replay(run_id: int, *, by: str) -> Replay:
    """Have a run make nothing more due, from now on; raises NoReplay.

    What it has made due is sent: at most what the receivers have not taken yet.
    """
    with transaction.atomic():
        # Waits for the step at work, if there is one.
        run = running_replay(run_id, Replay.objects.select_for_update(no_key=True))
        run.ended_at, run.stopped_by = timezone.now(), by[:200]
        run.save(update_fields=["ended_at", "stopped_by"])
    return run


def running_replay(run_id: int, runs: QuerySet[Replay] | None = None) -> Replay:
    """A run that has not ended. Raises NoReplay."""
    run = (Replay.objects.all() if runs is None else runs).filter(pk=run_id).first()
    if run is None:
        raise NoReplay(f"There is no run {run_id}.")
    if run.ended_at is not None:
        raise NoReplay(f"Run {run_id} has ended.")
    return run


def is_under_way() -> bool:
    """Return whether any run is."""
    return Replay.objects.filter(ended_at=None).exists()


def step_replays() -> int:
    """Take each run whose second has come a step further; return how many runs are under way."""
    under_way = Replay.objects.filter(ended_at=None).count()
    # What is made due while nothing is claimed would go out all at once afterwards.
    if holding.current_drain():
        return under_way
    while run_id := next_due():
        try:
            step_replay(run_id)
        except (OperationalError, InterfaceError):
            raise
        except Exception:
            logger.exception("run %d of deliveries sent again cannot go on", run_id)
            Replay.objects.filter(pk=run_id).update(next_at=Now() + AFTER_FAILURE)
    return under_way


def next_due() -> int | None:
    due = Replay.objects.filter(ended_at=None, next_at__lte=Now())
    return due.order_by("next_at", "pk").values_list("pk", flat=True).first()


@transaction.atomic
def step_replay(run_id: int) -> None:
    """One step of a run, unless another worker is at it or has just done it."""
    due = Replay.objects.filter(pk=run_id, ended_at=None, next_at__lte=Now())
    run = due.select_for_update(no_key=True).first()
    if run is None:
        return
    reached = Reached(run.at_webhook, run.at_time, run.at_event)
    ids, reached, last = next_part(choice_of(run), reached, run.rate)
    sent = redelivery.redeliver(ids)
    Replay.objects.filter(pk=run_id).update(
        passed=F("passed") + len(ids),
        sent=F("sent") + sent,
        at_webhook=reached.webhook,
        at_time=reached.time,
        at_event=reached.event,
        moved_at=Now(),
        next_at=Now() + STEP,
        ended_at=Now() if last else None,
    )


def replay_state(run: Replay) -> str:
    """`running`, `done` or `stopped`."""
    if run.ended_at is None:
        return "running"
    return "stopped" if run.stopped_by else "done"


def seconds_left(run: Replay) -> int:
    """How long a run that goes on takes at least."""
    return 0 if run.ended_at else max(0, run.total - run.passed) // run.rate


def stands_still(run: Replay) -> bool:
    return run.ended_at is None and timezone.now() - run.moved_at > STILL


def still_since() -> datetime | None:
    """When the run under way moved on that has stood still longest; None where there is none."""
    under_way = Replay.objects.filter(ended_at=None).order_by("moved_at")
    return under_way.values_list("moved_at", flat=True).first()
