"""A database of each released version is migrated, and used."""

from pathlib import Path

import pytest
from django.conf import settings

from tests.databases import new_database
from tests.upgrades import life

RELEASED = sorted(life.DUMPS.glob("*.json.gz"))


def test_this_version_is_among_them() -> None:
    """Otherwise run `./dev test tests/upgrades/dump.py`."""
    assert life.DUMPS / f"{settings.VERSION}.json.gz" in RELEASED


@pytest.mark.slow
@pytest.mark.parametrize("file", RELEASED, ids=lambda file: file.name.removesuffix(".json.gz"))
def test_it_is_migrated_and_used(rows_to_keep: None, file: Path) -> None:
    """Rewrite the dump freely until a version is released: its migrations may still change."""
    with new_database("upgraded") as database:
        report = life.live("use", file, database)

    assert {tried: amiss for tried, amiss in report.items() if amiss} == {}
