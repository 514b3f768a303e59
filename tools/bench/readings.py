"""Readings of worker and PostgreSQL from minute to minute, and marks of what happens meanwhile."""

import time
from typing import NamedTuple

from django.db import connection

from tools.bench import cpu, memory, rig, volumes
from tools.bench.crew import Crew

# Both are told when they are over: a checkpoint by when it began, which may be minutes ago.
SEEN = """
SELECT 'checkpoint', extract(epoch FROM checkpoint_time) FROM pg_control_checkpoint()
UNION
SELECT 'autovacuum', extract(epoch FROM last_autovacuum)
FROM pg_stat_user_tables WHERE last_autovacuum IS NOT NULL AND relname LIKE 'deliveries%'
"""
DEAD = (
    "SELECT coalesce(sum(n_dead_tup), 0) FROM pg_stat_user_tables WHERE relname LIKE 'deliveries%'"
)
MEGABYTE = 1_000_000


class Mark(NamedTuple):
    """Something that happened or went on, in seconds from the start."""

    at: float
    word: str
    end: float


class Readings:
    """Made when a load begins; `marks` take what others do, and what PostgreSQL does by itself."""

    def __init__(self, crew: Crew) -> None:
        self.crew = crew
        self.postgres = rig.postgres()
        self.marks: list[Mark] = []
        self.before = self.totals()
        self.known = seen()
        self.begin(time.monotonic())

    def begin(self, start: float) -> None:
        """Count the time of marks from a moment on the monotonic clock."""
        self.start = start

    def now(self) -> float:
        return time.monotonic() - self.start

    def mark(self, word: str, since: float, seconds: float = 0.0) -> None:
        self.marks.append(Mark(since, word, since + seconds))

    def totals(self) -> dict[str, float]:
        """Sum up what only grows: seconds of the processor, and megabytes of WAL."""
        return {
            "worker_cpu_s": self.crew.used(),
            "postgres_cpu_s": cpu.of_trees({"postgres": self.postgres})["postgres"],
            "wal_mb": number(volumes.WAL) / MEGABYTE,
        }

    def read(self) -> dict[str, float]:
        """Return the use since the last time; memory and dead rows as they are now."""
        now = self.totals()
        used = {name: value - self.before[name] for name, value in now.items()}
        self.before = now
        self.look()
        used["worker_mb"] = self.crew.pss_mb()
        used["postgres_mb"] = memory.of_tree(self.postgres).pss_mb
        used["dead_rows"] = number(DEAD)
        return {name: round(value, 2) for name, value in used.items()}

    def look(self) -> None:
        """Mark what PostgreSQL has done since the last time."""
        found = seen()
        # The database's clock and ours run alike; only the moments they count from differ.
        offset = time.time() - self.now()
        for word, at in sorted(found - self.known):
            self.mark(word, at - offset)
        self.known |= found


def seen() -> set[tuple[str, float]]:
    with connection.cursor() as cursor:
        cursor.execute(SEEN)
        return {(word, float(at)) for word, at in cursor.fetchall()}


def number(question: str) -> float:
    with connection.cursor() as cursor:
        cursor.execute(question)
        return float(cursor.fetchone()[0])
