"""Redelivery of a choice of deliveries: at once if they are few, else as a run, at a rate.

A run is a row. Each second a job takes it a step further: one transaction makes as many deliveries
due as the rate allows and records the progress. If a worker is killed, another one repeats the
step. Deliveries that are due are sent like any other.
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

# Up to this many are sent at once, without confirmation.
FEW = 1_000
USUAL_RATE = 100
# Highest rate of a run; bounds one statement.
MOST_A_SECOND = 1_000
STEP = timedelta(seconds=1)
# Pause of a run after a failed step: it must not keep other runs from theirs.
AFTER_FAILURE = timedelta(minutes=1)
# A run without progress for this long stands still.
STILL = timedelta(minutes=2)


class NotConfirmed(Exception):
    """The deliveries are more than FEW, and their number (`chosen`) was not confirmed."""

    def __init__(self, chosen: ChosenCount) -> None:
        super().__init__(f"Not confirmed: these are {chosen.deliveries} deliveries.")
        self.chosen = chosen


class BadRate(ValueError):
    """The rate is out of range; the message says which rates are valid."""


class NoReplay(ValueError):
    """The run does not exist or has ended; the message says which."""


def send_chosen(
    choice: Choice,
    chosen: ChosenCount,
    *,
    by: str,
    rate: int | None = None,
    confirmed: int | None = None,
) -> Replay | int:
    """Send the chosen deliveries again; return the run, or the number sent at once.

    More than FEW must be confirmed by their number and become a run. Fewer become one if a `rate`
    in deliveries per second is given. Raises NotConfirmed and BadRate.
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
    """Send all at once: the engine must not see the newer of two events without the older."""
    count = 0
    reached, last = Reached(), False
    while not last:
        ids, reached, last = next_part(choice, reached, FEW)
        count += redelivery.redeliver(ids)
    return count


def choice_of(run: Replay) -> Choice:
    return Choice(**{name: getattr(run, name) for name in CHOICE} | {"state": State(run.state)})


def stop_replay(run_id: int, *, by: str) -> Replay:
    """End a run, so that it makes no more deliveries due. Raises NoReplay.

    Deliveries that it has made due already are still sent.
    """
    with transaction.atomic():
        # The row lock waits for a step in progress.
        run = running_replay(run_id, Replay.objects.select_for_update(no_key=True))
        run.ended_at, run.stopped_by = timezone.now(), by[:200]
        run.save(update_fields=["ended_at", "stopped_by"])
    return run


def running_replay(run_id: int, runs: QuerySet[Replay] | None = None) -> Replay:
    """Return a run that has not ended. Raises NoReplay."""
    run = (Replay.objects.all() if runs is None else runs).filter(pk=run_id).first()
    if run is None:
        raise NoReplay(f"There is no run {run_id}.")
    if run.ended_at is not None:
        raise NoReplay(f"Run {run_id} has ended.")
    return run


def is_under_way() -> bool:
    """Return whether any run is under way."""
    return Replay.objects.filter(ended_at=None).exists()


def step_replays() -> int:
    """Take each run that is due a step further; return the number of runs under way."""
    under_way = Replay.objects.filter(ended_at=None).count()
    # Loops claim nothing during a drain: what a step made due would go out all at once after it.
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
    """Take a run one step further, unless another worker is doing so or has just done so."""
    due = Replay.objects.filter(pk=run_id, ended_at=None, next_at__lte=Now())
    run = due.select_for_update(no_key=True).first()
    if run is None:
        return
    reached = Reached(run.at_webhook, run.at_time, run.at_event)
    ids, reached, last = next_part(choice_of(run), reached, run.rate)
    redelivered = redelivery.redeliver(ids)
    Replay.objects.filter(pk=run_id).update(
        passed=F("passed") + len(ids),
        sent=F("sent") + redelivered,
        at_webhook=reached.webhook,
        at_time=reached.time,
        at_event=reached.event,
        moved_at=Now(),
        next_at=Now() + STEP,
        ended_at=Now() if last else None,
    )


def replay_state(run: Replay) -> str:
    """Return `running`, `done` or `stopped`."""
    if run.ended_at is None:
        return "running"
    return "stopped" if run.stopped_by else "done"


def seconds_left(run: Replay) -> int:
    """Return how many more seconds a run takes at least; 0 if it has ended."""
    return 0 if run.ended_at else max(0, run.total - run.passed) // run.rate


def stands_still(run: Replay) -> bool:
    return run.ended_at is None and timezone.now() - run.moved_at > STILL


def still_since() -> datetime | None:
    """Return when the run that has stood still longest last moved; None if none is under way."""
    under_way = Replay.objects.filter(ended_at=None).order_by("moved_at")
    return under_way.values_list("moved_at", flat=True).first()
