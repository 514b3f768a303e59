"""A tiny version of each command: it still works, and its books balance."""

import pytest
from django.core.cache import cache

from tests.bench.conftest import measured
from tools.bench.peers import venv
from tools.bench.rig import Rig

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.slow
def test_scenarios_measure_the_service(rig: Rig) -> None:
    """Check everything in one test, since most of its time goes into starting the worker."""
    live = measured(rig, "live --rate 50 --seconds 1 --warm-up 1 --webhooks 3 --publishers 1")
    wake_ups_are_found(rig)
    peer = "django-webhook" if venv.is_installed() else "plain"
    drain = measured(rig, f"drain --size 200 --also 50 --peer-size 50 --peers {peer}")

    assert [outcome.troubles for outcome in (live, drain)] == [[]] * 2

    assert live.figures["published"] == live.figures["delivered"] == 100
    assert 0 < live.figures["from_schedule_ms"]["p50"] <= live.figures["from_schedule_ms"]["p99"]

    assert [each["size"] for each in drain.figures["by_size"]] == [50, 200]
    assert drain.figures["peers"][peer]["deliveries_per_s"] > 0
    assert drain.figures["worker_cpu_s_per_1000"] > 0


def wake_ups_are_found(rig: Rig) -> None:
    lanes = measured(rig, "lanes --webhooks 100 --rounds 2 --questions 5 --settle 0 --idle 0.1")

    assert lanes.troubles == []
    (size,) = lanes.figures["sizes"]
    assert {fresh["came"] for fresh in size["fresh_ms"].values()} == {2}


@pytest.mark.slow
def test_the_desk_s_pages_and_their_plans(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    # On a busy machine a count cached for some seconds would expire before each call.
    keep = cache.set
    monkeypatch.setattr(cache, "set", lambda key, value, timeout: keep(key, value, None))
    size = "--tickets 600 --open 60 --agents 10 --companies 20 --times 1"
    outcome = measured(rig, f"desk {size} --only queue --explain")

    assert outcome.troubles == []
    pages = {each["page"]: each for each in outcome.figures["pages"]}
    assert {"queue Mine", "queue Overdue", "queue Everything"} <= set(pages)
    assert max(each["queries"] for each in pages.values()) <= 9
    assert any("tickets_ticket" in note for note in outcome.notes)
