"""The engine from seeds: a small part of `./dev simulate`, and a check of its judge."""

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from unittest.mock import Mock

import pytest

from deliveries import publishing, redelivery
from deliveries.engine import claiming, lanes, leases, recording, sharing
from deliveries.engine.lane_book import LaneBook
from deliveries.engine.lending import Loans
from tests.deliveries.former_failures import FORMER_FAILURES
from tools.faults.simulation import running, scenes
from tools.faults.simulation.drawing import drawn
from tools.faults.simulation.plan import STATEMENTS, Plan, Thing
from tools.faults.simulation.run import Run
from tools.faults.simulation.running import play
from tools.faults.simulation.world import World

SEEDS, AT_ONCE = 100, 10


@pytest.fixture
def world(transactional_db: None) -> Iterator[World]:
    """Yield the test's own database; the server must be able to read the file of the clock."""
    with TemporaryDirectory(prefix="parceldesk-clock-") as folder:
        Path(folder).chmod(0o755)
        new_world = World(Path(folder))
        yield new_world
        # Other tests look at all sequences of their database, as `after_restore` does.
        new_world.observer.execute("DROP SCHEMA simulated CASCADE")
        new_world.close()


@pytest.mark.parametrize(
    "first",
    [1, *(pytest.param(each, marks=pytest.mark.slow) for each in range(1, SEEDS, AT_ONCE)[1:])],
)
def test_runs_from_seeds_keep_every_promise(world: World, first: int) -> None:
    broken = {seed: play(drawn(seed), world)[1] for seed in range(first, first + AT_ONCE)}
    assert {seed: failures for seed, failures in broken.items() if failures} == {}


def test_the_moments_of_statements_exist() -> None:
    """Catch a statement whose beginning has changed: no fault would ever happen at it."""
    modules = (claiming, lanes, leases, recording)
    texts = [text for each in modules for text in vars(each).values() if isinstance(text, str)]
    begins = [" ".join(text.split()) for text in texts]
    ours = set(STATEMENTS.values()) - {"COMMIT"}
    assert {each for each in ours if any(text.startswith(each) for text in begins)} == ours


@pytest.mark.parametrize("plan", FORMER_FAILURES.values(), ids=FORMER_FAILURES)
def test_former_failures_keep_every_promise(world: World, plan: Plan) -> None:
    assert play(plan, world)[1] == []


def test_a_seed_gives_the_same_run_each_time(world: World) -> None:
    first, again = (Run(drawn(7), world, story=True).play() for _ in range(2))
    assert len(first) > 100
    different = [pair for pair in zip(first, again, strict=False) if pair[0] != pair[1]]
    assert different == []
    assert len(first) == len(again)


# Engines that break a promise: the module, the name, its replacement, and the judge's words.
BROKEN = {
    "without order": (
        claiming,
        "CLAIM",
        "AND event_id < candidate.event_id",
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
    "that numbers the events of a transaction backwards": (
        publishing,
        "PUBLISH",
        "ORDER BY position",
        "ORDER BY position DESC",
        "with a lower number",
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
    """Catch a judge that excuses everything."""
    assert old in getattr(where, name)
    monkeypatch.setattr(where, name, getattr(where, name).replace(old, new))

    assert any(says(plan, world, words) for plan in map(drawn, range(1, 40)))


# Engines that break a promise in a scene: the scene, and the rest as above.
BROKEN_IN = {
    "that takes webhooks after others have given it up": (
        scenes.last_words,
        lanes,
        "TAKE",
        "::uuid AND NOT lost",
        "::uuid",
        "late",
    ),
    "that never looks for webhooks of dead loops": (
        scenes.given_up_at_work,
        leases,
        "FREE_ORPHANED",
        "WHERE loop_id",
        "WHERE false AND loop_id",
        "never came",
    ),
    "that hands webhooks over in silence": (
        scenes.handed_over,
        sharing,
        "TRANSFER",
        "FROM given\n)",
        "FROM given WHERE false\n)",
        "never came",
    ),
    "that hands webhooks over to dead loops": (
        scenes.handed_over,
        sharing,
        "TRANSFER",
        "  JOIN deliveries_heartbeat AS heartbeat ON heartbeat.loop_id = loop.id\n"
        "  WHERE NOT lost AND takes_lanes AND id <> %(loop)s::uuid"
        " AND lease_until > statement_timestamp()",
        "  WHERE id <> %(loop)s::uuid",
        "late",
    ),
    "that ends a rest that was asked for": (
        scenes.told_in_a_rush,
        recording,
        "WELL",
        "AND coalesce(asked_until <= statement_timestamp(), true)",
        "",
        "s of rest",
    ),
    "that wakes first attempts only": (
        scenes.overtaken,
        recording,
        "RECORD",
        "WHERE due_at <> own_due_at",
        "WHERE step = 0",
        "late",
    ),
    "that wakes nobody for what is asked for": (
        scenes.asked_for,
        redelivery,
        "AGAIN",
        "statement_timestamp() FROM again\n)",
        "statement_timestamp() FROM again WHERE false\n)",
        "late",
    ),
    "that sends once more what is in flight": (
        scenes.asked_for,
        redelivery,
        "AGAIN",
        "AND (claimed_until IS NULL OR claimed_until <= statement_timestamp())",
        "",
        "in flight twice",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scene", "where", "name", "old", "new", "words"), BROKEN_IN.values(), ids=BROKEN_IN
)
def test_a_scene_shows_an_engine(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    scene: Callable[[scenes.Dice, Plan], Plan],
    where: ModuleType,
    name: str,
    old: str,
    new: str,
    words: str,
) -> None:
    """Catch a scene that no longer reaches the state for which it is drawn."""
    assert old in getattr(where, name)
    monkeypatch.setattr(where, name, getattr(where, name).replace(old, new))
    if words == "in flight twice":
        # A loop sends nothing that it has on loan, so this has to be broken as well.
        monkeypatch.setattr(Loans, "_unsent", lambda loans, claimed: list(claimed))

    assert any(says(plan, world, words) for plan in plans_of(scene))


@pytest.mark.slow
def test_a_scene_shows_an_engine_that_forgets_what_it_missed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Give back a delivery whose answer was missed, and forget its webhook."""
    monkeypatch.setattr(LaneBook, "wake_for", Mock())

    assert any(says(plan, world, "late") for plan in plans_of(scenes.unseen))


def plans_of(scene: Callable[[scenes.Dice, Plan], Plan]) -> Iterator[Plan]:
    dice = [random.Random(seed) for seed in range(20)]  # noqa: S311 - a simulation
    return (scene(each, Plan(1, 3, 20.0, 0.03, ())) for each in dice)


def says(plan: Plan, world: World, words: str) -> bool:
    return any(re.search(words, each) for each in play(plan, world)[1])


def test_a_seed_that_fails_tells_a_short_story_each_time(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Shorten the plan to two events of a subject, and a receiver that fails in between."""
    where, name, old, new, words = BROKEN["without order"]
    monkeypatch.setattr(where, name, getattr(where, name).replace(old, new))
    beside = (Thing(0.1 * each, "sweep") for each in range(4))
    plan = Plan(
        1,
        1,
        5.0,
        0.03,
        (
            *beside,
            Thing(0.4, "receiver", 4.0, 9, "errors"),
            Thing(0.5, "publish", 0.0, 1, "commits", 7),
            Thing(1.0, "rotate"),
            Thing(2.0, "publish", 0.0, 1, "commits", 7),
        ),
    )
    monkeypatch.setattr(running, "drawn", lambda seed: plan)

    for _ in range(2):
        running.tell_broken(1, world, [words])
    story = capsys.readouterr().out.splitlines()

    first, again = story[: len(story) // 2], story[len(story) // 2 :]
    assert first == again
    assert any(re.fullmatch("sha256 of the whole story: [0-9a-f]{64}", each) for each in first)
    assert any(re.match(f"broken: .*{words}", each) for each in first)
    things = [each for each in first if re.match(r" +\d+\.\d{3}  \w", each)]
    assert [each.split()[1] for each in things] == ["receiver", "publish", "publish"]
    steps = [each for each in first if re.match(r"\d+\.\d{6} \w", each)]
    assert 0 < len(steps) <= running.LAST_STEPS
