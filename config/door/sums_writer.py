"""Writes a web process's counts to the database, apart from its requests."""

from concurrent.futures import Executor, Future, wait

from django.db import close_old_connections, connections

from core.measures import sums

# For how long the last counts of a process that ends may take.
LAST_WRITE_SECONDS = 1.0


class SumsWriter:
    """Uses one thread of `pool`, whose only thread closes its connection in the end."""

    def __init__(self, pool: Executor) -> None:
        self.pool = pool
        self.writing: Future[None] | None = None

    def turn(self) -> None:
        """Begin to write if it is time and the last counts are written."""
        if sums.are_due() and (self.writing is None or self.writing.done()):
            self.writing = self.pool.submit(self.write)

    def write(self, *, last: bool = False) -> None:
        try:
            close_old_connections()  # as Django does before a request
            sums.write_sums()
        finally:
            if last:
                connections.close_all()

    def finish(self) -> None:
        """Write the last counts. What the database does not take in time is lost."""
        wait([self.pool.submit(self.write, last=True)], LAST_WRITE_SECONDS)
