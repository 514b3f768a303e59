from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytest_django import Settings

from tests.deliveries.hostile import Receiver, good, receiver
from tests.shipments import feeding
from tests.shipments.feeding import Fed, Line


@pytest.fixture(autouse=True)
def incidences_heard(settings: Settings) -> list:
    """Shipments are tested without tickets: this list stands in for the linking of both."""
    settings.INCIDENCE_RECORDED = "tests.shipments.feeding.hear"
    feeding.heard.clear()
    return feeding.heard


@pytest.fixture
def feed(tmp_path: Path) -> Callable[..., Fed]:
    """Feed lines to the command as a file."""

    def run(*lines: Line | bytes) -> Fed:
        return feeding.ingest(feeding.write(tmp_path / "feed.jsonl", *lines))

    return run


@pytest.fixture
def listening() -> Iterator[Receiver]:
    with receiver(good) as running:
        yield running
