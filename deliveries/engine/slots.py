"""No more engine loops than this database is meant for, over all workers on all machines."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import InterfaceError, OperationalError, connection

# Any number will do, as long as nothing else takes advisory locks under it.
CLASS = 7_301


@contextmanager
def engine_slot(how_many: int) -> Iterator[int | None]:
    """One of `how_many` slots, or None when all are taken. A dead process frees its slot."""
    slot = next((number for number in range(how_many) if lock(number)), None)
    try:
        yield slot
    finally:
        if slot is not None:
            release(slot)


def lock(slot: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s, %s)", [CLASS, slot])
        return bool(cursor.fetchone()[0])


def release(slot: int) -> None:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s, %s)", [CLASS, slot])
    except (OperationalError, InterfaceError):
        # The lock went with the connection; a loop that has lost it goes on without, which
        # costs a loop too many for a moment and nothing else.
        connection.close()
