"""Readings of worker and PostgreSQL by the minute, and marks of events meanwhile."""

import time
from typing import NamedTuple

from django.db import connection

from tools.bench import cpu, memory, rig, volumes
from tools.bench.crew import Crew

# PostgreSQL reports both at their end, a checkpoint with its beginning, maybe minutes ago.
SERVER_EVENTS = """
SELECT 'checkpoint', extract(epoch FROM checkpoint_time) FROM pg_control_checkpoint()
UNION
SELECT 'autovacuum', extract(epoch FROM last_autovacuum)
FROM pg_stat_user_tables WHERE last_autovacuum IS NOT NULL AND relname LIKE 'deliveries%'
"""
DEAD_ROWS = (
    "SELECT coalesce(sum(n_dead_tup), 0) FROM pg_stat_user_tables WHERE relname LIKE 'deliveries%'"
)
MEGABYTE = 1_000_000


class Mark(NamedTuple):
    """Event or period, in seconds from the start."""

    at: float
    word: str
    end: float


class Readings:
    """Readings from the start of a load; `marks` are troubles, and PostgreSQL's own actions."""

    def __init__(self, crew: Crew) -> None:
        self.crew = crew
        self.postgres = rig.postgres()
        self.marks: list[Mark] = []
        self.before = self.totals()
        self.known_events = server_events()
        self.begin(time.monotonic())

    def begin(self, start: float) -> None:
        """Set the start of the marks' time, on the monotonic clock."""
        self.start = start

    def now(self) -> float:
        return time.monotonic() - self.start

    def mark(self, word: str, since: float, seconds: float = 0.0) -> None:
        self.marks.append(Mark(since, word, since + seconds))

    def totals(self) -> dict[str, float]:
        """Read the counters that only grow: CPU seconds, and megabytes of WAL."""
        return {
            "worker_cpu_s": self.crew.used(),
            "postgres_cpu_s": cpu.of_trees({"postgres": self.postgres})["postgres"],
            "wal_mb": number(volumes.WAL) / MEGABYTE,
        }

    def read(self) -> dict[str, float]:
        """Return the use since the last call, and current memory and dead rows."""
        now = self.totals()
        used = {name: value - self.before[name] for name, value in now.items()}
        self.before = now
        self.look()
        used["worker_mb"] = self.crew.pss_mb()
        used["postgres_mb"] = memory.of_tree(self.postgres).pss_mb
        used["dead_rows"] = number(DEAD_ROWS)
        return {name: round(value, 2) for name, value in used.items()}

    def look(self) -> None:
        """Mark PostgreSQL's checkpoints and vacuums since the last call."""
        events = server_events()
        # Both clocks run at the same speed; only their origins differ.
        offset = time.time() - self.now()
        for word, at in sorted(events - self.known_events):
            self.mark(word, at - offset)
        self.known_events |= events


def server_events() -> set[tuple[str, float]]:
    with connection.cursor() as cursor:
        cursor.execute(SERVER_EVENTS)
        return {(word, float(at)) for word, at in cursor.fetchall()}


def number(question: str) -> float:
    with connection.cursor() as cursor:
        cursor.execute(question)
        return float(cursor.fetchone()[0])
