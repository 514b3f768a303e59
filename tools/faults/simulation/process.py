"""The simulated parts of a process: its clock, its ids and its doorbell."""

import logging
import random
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from django.db import DEFAULT_DB_ALIAS, connections
from django.test import override_settings

from core.data.postgresql.base import BoundedConnection
from core.data.statements import PreparingCursor
from tools.faults.simulation.plan import LADDER
from tools.faults.simulation.scheduler import Scheduler
from tools.faults.simulation.stage import Stage

# Sizes of the engine where six webhooks and a few deliveries are to be many. None of them cuts off
# rows that are due at the same time: which would be left is up to the server.
SMALL = {
    "deliveries.engine.turns.CLAIMS_AT_ONCE": 16,
    "deliveries.engine.turns.RESULTS_AT_ONCE": 16,
    "deliveries.engine.loop.FIRSTS_AT_ONCE": 1,
    "deliveries.engine.loop.PLENTY": 3,
    "deliveries.engine.lane_book.CALM_WEBHOOKS": 1,
    "deliveries.engine.lane_book.CALM_SIZE": 1,
    "deliveries.engine.lane_book.MOST_LANES": 5,
    "deliveries.engine.sharing.UNEVEN": 1,
    "deliveries.engine.standing_by.PLENTY": 2,
    "deliveries.engine.standing_by.PRESSED_SLOTS": 2,
    "deliveries.engine.standing_by.LITTLE_SECONDS": 2.0,
}


def noting(scheduler: Scheduler) -> Any:
    """A statement of the engine says in the story what it is."""
    execute: Any = PreparingCursor.execute

    def noted(cursor: Any, query: Any, *given: Any, **named: Any) -> Any:
        if scheduler.current:
            scheduler.current.asks = " ".join(str(query).split())[:60]
        return execute(cursor, query, *given, **named)

    return noted


def committing(scheduler: Scheduler) -> Any:
    """Have the end of a transaction wait for its turn too."""
    commit: Any = BoundedConnection.commit

    def noted(link: Any) -> None:
        if scheduler.current:
            scheduler.current.asks = "COMMIT"
        commit(link)

    return noted


@contextmanager
def in_simulated_time(run: Stage, ring: Callable[..., None]) -> Iterator[None]:
    """Put the clock of the run, its ids and its doorbell in the place of those of the process."""
    kept = connections[DEFAULT_DB_ALIAS]
    ids = random.Random(run.plan.seed)  # noqa: S311 - a simulation

    def new_id() -> uuid.UUID:
        return uuid.UUID(int=ids.getrandbits(128), version=4)

    def host() -> str:
        return run.scheduler.current.host if run.scheduler.current else ""

    random.seed(run.plan.seed)
    with ExitStack() as stack:
        stack.enter_context(patch.object(PreparingCursor, "execute", noting(run.scheduler)))
        stack.enter_context(patch.object(BoundedConnection, "commit", committing(run.scheduler)))
        for name, value in {
            **(SMALL if run.plan.small else {}),
            "deliveries.engine.claiming.lease_seconds": lambda: run.plan.claim_seconds,
            "deliveries.engine.clock.monotonic": run.scheduler.monotonic,
            "django.utils.timezone.now": run.scheduler.wall,
            "deliveries.engine.loop.LINGER_SECONDS": run.plan.linger,
            "deliveries.engine.leases.uuid4": new_id,
            "deliveries.engine.leases.os": SimpleNamespace(
                getppid=lambda: 1, getpid=lambda: len(run.ledger)
            ),
            "deliveries.engine.leases.socket": SimpleNamespace(gethostname=host),
            "core.jobs.doorbell.ring": ring,
            "deliveries.doorbell.ring_engine": ring,
            "core.measures.sums.are_due": lambda: False,
            "core.measures.sums.write_sums": lambda: True,
        }.items():
            stack.enter_context(patch(name, value))
        stack.enter_context(
            override_settings(DELIVERY_RETRY_SECONDS=LADDER, DELIVERY_LOOPS=run.plan.loops)
        )
        logging.disable(logging.CRITICAL)
        try:
            yield
        finally:
            logging.disable(logging.NOTSET)
            connections[DEFAULT_DB_ALIAS] = kept
