"""Simulated parts of a process: clock, ids and doorbell."""

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

# Sizes of the engine at which six webhooks and a few deliveries are many. None of them limits rows
# that are due at the same time, as the choice would be up to the server.
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
LONG_LOOKS = {
    "deliveries.engine.fronts.LONG_SECONDS": -1.0,
    "deliveries.engine.fronts.FIRST_WAIT_SECONDS": 0.5,
}


def noting(scheduler: Scheduler) -> Any:
    """Wrap the engine's execute to note each statement in the story."""
    execute: Any = PreparingCursor.execute

    def execute_and_note(cursor: Any, query: Any, *args: Any, **kwargs: Any) -> Any:
        if scheduler.current:
            scheduler.current.asks = " ".join(str(query).split())[:60]
        return execute(cursor, query, *args, **kwargs)

    return execute_and_note


def committing(scheduler: Scheduler) -> Any:
    """Wrap commit so that the end of a transaction is scheduled too."""
    commit: Any = BoundedConnection.commit

    def commit_and_note(link: Any) -> None:
        if scheduler.current:
            scheduler.current.asks = "COMMIT"
        commit(link)

    return commit_and_note


@contextmanager
def in_simulated_time(run: Stage, ring: Callable[..., None]) -> Iterator[None]:
    """Replace clock, ids and doorbell of the process by those of the run."""
    real_connection = connections[DEFAULT_DB_ALIAS]
    ids = random.Random(run.plan.seed)  # noqa: S311 - a simulation

    def new_id() -> uuid.UUID:
        return uuid.UUID(int=ids.getrandbits(128), version=4)

    def new_secret(size: int) -> str:
        return ids.randbytes(size).hex()

    def host() -> str:
        return run.scheduler.current.host if run.scheduler.current else ""

    random.seed(run.plan.seed)
    with ExitStack() as stack:
        stack.enter_context(patch.object(PreparingCursor, "execute", noting(run.scheduler)))
        stack.enter_context(patch.object(BoundedConnection, "commit", committing(run.scheduler)))
        for name, value in {
            **(SMALL if run.plan.small else {}),
            **(LONG_LOOKS if run.plan.long_looks else {}),
            "deliveries.engine.claiming.lease_seconds": lambda: run.plan.claim_seconds,
            "deliveries.engine.clock.monotonic": run.scheduler.monotonic,
            "django.utils.timezone.now": run.scheduler.wall,
            "deliveries.engine.loop.LINGER_SECONDS": run.plan.linger,
            "deliveries.engine.leases.uuid4": new_id,
            "webhooks.services.secrets": SimpleNamespace(token_hex=new_secret),
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
            connections[DEFAULT_DB_ALIAS] = real_connection
