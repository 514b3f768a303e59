"""What a database must have been through before this version can migrate it."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder


def last_unsquashed_commit() -> str:
    """The full id of the last commit that had the migrations which were squashed since."""
    lines = Path(__file__).with_name("last_unsquashed_commit.txt").read_text().splitlines()
    return next(line for line in lines if not line.startswith("#"))


@register(Tags.database)
def squashed_migrations(*, databases: Sequence[str] | None, **_: Any) -> list[CheckMessage]:
    """Django's own message about a half-migrated database names neither cause nor cure.

    `manage.py migrate` runs this check; processes that serve do not.
    """
    return [
        Error(
            f"The database has some of the migrations that {app}.{name} replaces, but not all.",
            hint=f"Check out commit {last_unsquashed_commit()} and run manage.py migrate there"
            " first.",
            id="config.E007",
        )
        for alias in databases or ()
        for app, name in half_applied(applied_migrations(alias))
    ]


def applied_migrations(alias: str) -> set[tuple[str, str]]:
    return set(MigrationRecorder(connections[alias]).applied_migrations())


def half_applied(applied: set[tuple[str, str]]) -> Iterable[tuple[str, str]]:
    """Squashed migrations of which a part is applied, by the names of what they replace.

    A squashed migration has the name of the first one it stands for, which `replaces` cannot list.
    """
    for key, migration in sorted(MigrationLoader(None).replacements.items()):
        replaced = set(migration.replaces)
        if replaced - applied and ({key} | replaced) & applied:
            yield key
