"""A second party at each lock of this app."""

from functools import partial

import pytest

from tests import builders as build
from tests.locks import MakePair, Pair, made_in, play, shows, twice


@shows("shipments/feed/batch.py::fetch")
def bring_the_same_shipment_up_to_date() -> Pair:
    shipment = build.shipment(build.company())
    bring = partial(build.fact, "tracking", shipment_id=shipment.pk)
    return twice(partial(bring, status="Delivered"))


@pytest.mark.usefixtures("rows_to_keep")
@pytest.mark.parametrize("make", made_in(__name__), ids=lambda make: make.__name__)
def test_second_party_waits_or_passes_by(make: MakePair) -> None:
    play(make())
