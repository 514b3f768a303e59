"""Writes the rows of this version, next to earlier ones: `./dev test tests/upgrades/dump.py`.

Run it when a version is released. `test_dumps.py` migrates and uses each of them.
"""

from django.conf import settings

from tests.databases import new_database
from tests.upgrades import life


def test_write(rows_to_keep: None) -> None:
    file = life.DUMPS / f"{settings.VERSION}.json.gz"
    with new_database("released") as database:
        life.live("fill", file, database)
    assert file.stat().st_size < 100_000
