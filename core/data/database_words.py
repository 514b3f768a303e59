"""Readable errors of commands when the database is unreachable or of another version."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.management.base import CommandError
from django.db import InterfaceError, OperationalError, ProgrammingError
from psycopg.errors import UndefinedColumn, UndefinedTable

from core.watch.doctor import first_line


@contextmanager
def database_in_words() -> Iterator[None]:
    """Turn errors of an unreachable or outdated database into CommandErrors that name a cure."""
    try:
        yield
    except (OperationalError, InterfaceError) as error:
        raise CommandError(
            f"The database failed: {first_line(error)}."
            " Mend what manage.py doctor --only database says, then run this again."
        ) from error
    except ProgrammingError as error:
        if not is_of_another_version(error):
            raise
        text = "The database is not of this version. Run manage.py migrate, then this again."
        raise CommandError(text) from error


def is_of_another_version(error: ProgrammingError) -> bool:
    """Return whether a table or column is missing, as `migrate` has not been run."""
    return isinstance(error.__cause__, UndefinedTable | UndefinedColumn)
