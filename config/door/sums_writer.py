"""Writer of a web process's counts to the database, apart from its requests."""

from concurrent.futures import Executor, Future, wait

from django.db import close_old_connections, connections

from core.measures import sums

# Time limit for the last counts of a process that ends.
LAST_WRITE_SECONDS = 1.0


class SumsWriter:
    """Writer in `pool`, whose only thread closes its database connection in the end."""

    def __init__(self, pool: Executor) -> None:
        self.pool = pool
        self.writing: Future[None] | None = None

    def turn(self) -> None:
        """Start a write if it is due and the previous one has ended."""
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
        """Write the last counts; they are lost if the database does not take them in time."""
        wait([self.pool.submit(self.write, last=True)], LAST_WRITE_SECONDS)
