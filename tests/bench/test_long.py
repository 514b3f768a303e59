"""The hour and the snapshot, shortened: they collect complete results; times are not checked."""

import pytest

from tests.bench.conftest import measured
from tools.bench.rig import Rig

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.slow
def test_a_short_hour_has_all_its_troubles(rig: Rig) -> None:
    """Run an hour too short for its goals: a deploy alone takes seconds."""
    size = "--minutes 0.15 --every 3 --rate 40 --warm-up 0 --webhooks 4 --publishers 1"
    outcome = measured(rig, f"hour {size} --only silent broken --scale 0.02")

    assert outcome.troubles == []
    hour = outcome.figures
    assert hour["published"] == hour["delivered"] == hour["received"] == 360
    assert [each["minute"] for each in hour["minutes"]] == [0.05, 0.1, 0.15]
    assert sum(each["apart"] for each in hour["minutes"]) > 0
    assert {"bad neighbours", "deploy", "worker killed", "transaction open", "checkpoint"} <= {
        mark["word"] for mark in hour["marks"]
    }
    assert all(each["wal_mb"] > 0 and each["worker_mb"] > 0 for each in hour["minutes"])
    assert len(outcome.table) == 4


@pytest.mark.slow
def test_parts_with_and_without_an_open_transaction_alternate(rig: Rig) -> None:
    size = "--minutes 0.025 --every 1.5 --rate 100 --batch 5 --warm-up 0 --publishers 1"
    outcome = measured(rig, f"snapshot {size}")

    assert outcome.troubles == []
    assert outcome.figures["published"] == outcome.figures["received"] == 300
    quiet, beside = (each["words"] for each in outcome.figures["minutes"])
    assert ("transaction open" in quiet, "transaction open" in beside) == (False, True)
    rate = outcome.figures["compared"][0]
    assert (rate["what"], rate["judged"]) == ("arrived", True)
