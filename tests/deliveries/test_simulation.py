"""The engine from seeds: a small part of what `./dev simulate` plays, and that its judge sees."""

import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

import pytest

from deliveries.engine import claiming, recording
from tools.faults.simulation.plan import Plan, Thing, drawn
from tools.faults.simulation.run import Run
from tools.faults.simulation.running import play, shrunk
from tools.faults.simulation.world import World

SEEDS, AT_ONCE = 100, 10
# Plans that broke a promise once, each with what it was.
KEPT = {
    "a loop that was given up while it asked for webhooks took them for ever": Plan(
        47,
        3,
        14.4,
        2.0,
        (
            Thing(2.552, "publish", 0.0, 2, "commits", 549224465),
            Thing(3.434, "publish", 0.0, 5, "commits", 1542245923),
            Thing(4.961, "publish", 3.0, 5, "commits", 1660249968),
            Thing(4.97, "clock", 9.0, 6),
        ),
    ),
    "an event that came just after its host was released rested for half a minute": Plan(
        17,
        2,
        18.5,
        2.0,
        (
            Thing(1.390123499943043, "hold", 2.0, 11, "", 3908596845),
            Thing(3.57115127764283, "publish", 0.0, 5, "commits", 3872868276),
        ),
    ),
}


@pytest.fixture
def world(transactional_db: None) -> Iterator[World]:
    """The test's own database; the server must be able to look at the file of the clock."""
    with TemporaryDirectory(prefix="parceldesk-clock-") as folder:
        Path(folder).chmod(0o755)
        made = World(Path(folder))
        yield made
        made.close()


@pytest.mark.parametrize(
    "first",
    [1, *(pytest.param(each, marks=pytest.mark.slow) for each in range(1, SEEDS, AT_ONCE)[1:])],
)
def test_runs_from_seeds_keep_every_promise(world: World, first: int) -> None:
    broken = {seed: play(drawn(seed), world)[1] for seed in range(first, first + AT_ONCE)}
    assert {seed: said for seed, said in broken.items() if said} == {}


@pytest.mark.parametrize("plan", KEPT.values(), ids=KEPT)
def test_what_broke_a_promise_once_keeps_it(world: World, plan: Plan) -> None:
    assert play(plan, world)[1] == []


def test_a_seed_gives_the_same_run_each_time(world: World) -> None:
    first, again = (Run(drawn(5), world, story=True).play() for _ in range(2))
    assert len(first) > 100
    different = [pair for pair in zip(first, again, strict=False) if pair[0] != pair[1]]
    assert different == []
    assert len(first) == len(again)


# Engines that break a promise: where, what is replaced by what, and what the judge says of it.
BROKEN = {
    "without order": (
        claiming,
        "CLAIM",
        "AND head.event_id < candidate.event_id",
        "AND false",
        "before event",
    ),
    "that claims what others have claimed": (
        claiming,
        "CLAIM",
        "claimed_until IS NULL OR",
        "true OR",
        "in flight twice|after its success",
    ),
    "that forgets what waits behind": (
        recording,
        "RECORD",
        "WHERE state <> 0 AND subject_id",
        "WHERE false AND subject_id",
        "late",
    ),
}


@pytest.mark.parametrize(
    ("where", "name", "old", "new", "words"),
    [
        pytest.param(*how, id=name, marks=() if name == "without order" else pytest.mark.slow)
        for name, how in BROKEN.items()
    ],
)
def test_the_judge_sees_an_engine(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    where: ModuleType,
    name: str,
    old: str,
    new: str,
    words: str,
) -> None:
    """Trap: a judge that excuses everything."""
    assert old in getattr(where, name)
    monkeypatch.setattr(where, name, getattr(where, name).replace(old, new))

    plan = next(plan for plan in map(drawn, range(1, 40)) if says(plan, world, words))
    smaller = shrunk(plan, world)
    assert len(smaller.things) < len(plan.things)
    assert says(smaller, world, words)


def says(plan: Plan, world: World, words: str) -> bool:
    return any(re.search(words, each) for each in play(plan, world)[1])
