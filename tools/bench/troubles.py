"""Troubles that happen at given times during a measured load."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from django.db import connection, connections, transaction

from deliveries.engine.leases import HEARTBEAT_SECONDS, LEASE_SECONDS
from tools.bench import draining
from tools.bench.background import BackgroundThread
from tools.bench.bad_receivers import BadReceivers, Neighbours
from tools.bench.crew import WORKERS, Crew
from tools.bench.minutes import KILLED
from tools.bench.readings import Readings

# Other loops take over from a killed worker once its lease has expired and a heartbeat notices.
KILL_SECONDS = LEASE_SECONDS + HEARTBEAT_SECONDS
OPEN = "transaction open"
DEPLOY = "deploy"
NEIGHBOURS = "bad neighbours"
# REPEATABLE READ keeps the snapshot until the end; the transaction id holds back vacuum too.
# Our own limit would end it after a minute.
HOLD = """
SET idle_in_transaction_session_timeout = 0;
BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT pg_current_xact_id()
"""


class Step(NamedTuple):
    """Action at a number of seconds from the start."""

    at: float
    act: Callable[[], None]


class Troubles(BackgroundThread):
    """Thread that runs steps at their times; steps not due by the end are skipped.

    Steps run one after the other: give long ones a thread of their own.
    """

    def __init__(self, steps: Sequence[Step], readings: Readings) -> None:
        super().__init__()
        self.steps = sorted(steps, key=lambda step: step.at)
        self.readings = readings

    def step(self) -> None:
        if not self.steps:
            self.ended.wait()
        elif not self.ended.wait(max(0.0, self.steps[0].at - self.readings.now())):
            self.steps.pop(0).act()


class OpenTransaction:
    """Open transaction that keeps vacuum from removing rows that died after its start."""

    def __init__(self, readings: Readings) -> None:
        self.readings = readings

    def steps(self, since: float, until: float) -> list[Step]:
        return [Step(since, lambda: self.open(until)), Step(until, self.close)]

    def open(self, until: float) -> None:
        # A separate connection: the thread uses its own for other steps meanwhile.
        self.connection = connections.create_connection("default")
        with self.connection.cursor() as cursor:
            cursor.execute(HOLD)
        now = self.readings.now()
        self.readings.mark(OPEN, now, max(0.0, until - now))

    def close(self) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute("COMMIT")
        self.connection.close()


class Crowd:
    """Neighbours of several kinds, whose deliveries appear all at once."""

    def __init__(self, receivers: BadReceivers, crowd: Sequence[Neighbours]) -> None:
        self.receivers, self.crowd = receivers, crowd

    def come(self) -> None:
        with transaction.atomic():
            for each in self.crowd:
                each.publish()
        draining.ring()

    def go_on(self) -> None:
        """Replace finished deliveries, and clear the receivers' logs, which would grow."""
        self.receivers.receiver.clear()
        for each in self.crowd:
            each.top_up()


def checkpoint() -> None:
    with connection.cursor() as cursor:
        cursor.execute("CHECKPOINT")


def kill(crew: Crew, readings: Readings) -> None:
    readings.mark(KILLED, readings.now(), KILL_SECONDS)
    crew.kill(WORKERS[0])


def deploy(crew: Crew, readings: Readings) -> None:
    since = readings.now()
    crew.deploy()
    readings.mark(DEPLOY, since, readings.now() - since)
