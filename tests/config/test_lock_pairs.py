"""A second party at each lock of this app."""

from functools import partial

import pytest

from config.one_deployment import claim_database
from tests.locks import MakePair, Pair, pairs_in, play, shows


@shows("config/one_deployment.py::STORED")
def claim_the_same_database() -> Pair:
    return Pair(
        first=partial(claim_database, "one"),
        second=partial(claim_database, "other"),
        gives=("other", ""),
    )


@pytest.mark.usefixtures("rows_to_keep")
@pytest.mark.parametrize("make", pairs_in(__name__), ids=lambda make: make.__name__)
def test_second_party_waits_or_passes_by(make: MakePair) -> None:
    play(make())
