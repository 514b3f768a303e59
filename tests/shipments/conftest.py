from collections.abc import Iterator

import pytest
from pytest_django import Settings

from tests.deliveries.hostile import Receiver, good, receiver
from tests.shipments import feeding


@pytest.fixture(autouse=True)
def incidences_heard(settings: Settings) -> list:
    """Replace the linking of tickets by this list: shipments are tested without tickets."""
    settings.INCIDENCE_RECORDED = "tests.shipments.feeding.hear"
    feeding.heard_incidences.clear()
    return feeding.heard_incidences


@pytest.fixture
def listening() -> Iterator[Receiver]:
    with receiver(good) as running:
        yield running
