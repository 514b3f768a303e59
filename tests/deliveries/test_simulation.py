"""The engine from seeds: a small part of `./dev simulate`, and a check of its judge."""

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

import pytest

from deliveries import publishing
from deliveries.engine import claiming, lanes, leases, recording, sharing
from tools.faults.simulation import running, scenes
from tools.faults.simulation.drawing import drawn
from tools.faults.simulation.plan import Plan, Thing
from tools.faults.simulation.run import Run
from tools.faults.simulation.running import play
from tools.faults.simulation.world import World

SEEDS, AT_ONCE = 100, 10
# Plans that once broke a promise, named by the failure.
FORMER_FAILURES = {
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
    "what was given back waited while its loop looked every few milliseconds": Plan(
        22,
        2,
        30.0,
        2.0,
        (
            Thing(0.1, "drain", 2.5, 5, "", 3773667367),
            Thing(0.2, "limit", 0.0, 1, "", 1905831436),
            Thing(1.169492803791951, "publish", 0.0, 6, "commits", 1438011601),
            Thing(1.1933923513664881, "publish", 0.0, 6, "commits", 3870731166),
            Thing(2.0229265805033383, "publish", 0.0, 6, "commits", 342126167),
            Thing(2.271683809135497, "publish", 0.0, 6, "commits", 2213159655),
            Thing(2.44504236044457, "publish", 0.0, 6, "commits", 3794969562),
            Thing(2.5, "database slow", 3.394284380428771, 6, "", 1025397805),
            Thing(3.0, "receiver", 4.0, 9, "is busy", 793958910),
            Thing(3.394284380428771, "receiver", 30.0, 9, "is very slow", 29024576),
            Thing(4.251995409265282, "publish", 0.0, 2, "commits", 2703866056),
            Thing(5.875226444407907, "publish", 0.0, 1, "commits", 1978158608),
            Thing(6.105094121834834, "publish", 0.0, 1, "commits", 2299750991),
            Thing(7.589044487890434, "publish", 0.0, 1, "commits", 223733795),
            Thing(8.571351009993958, "publish", 0.0, 3, "commits", 3174162897),
            Thing(9.26850280429501, "publish", 0.0, 1, "commits", 1616005240),
        ),
        subjects=40,
        claim_seconds=20.0,
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
    "a receiver that had failed once rested for half a minute after a release": Plan(
        20423,
        3,
        26.542599771056626,
        0.03,
        (
            Thing(16.959766869268268, "publish", 0.0, 5, "commits", 3779306475),
            Thing(16.970763652312325, "publish", 3.0, 4, "commits", 2491230317),
            Thing(17.516156166192328, "receiver", 2.0, 6, "asks for rest", 2324460460),
            Thing(17.620057953669864, "publish", 0.0, 5, "commits", 3162681070),
            Thing(18.241649670880257, "publish", 3.0, 6, "commits", 2146360614),
            Thing(18.41458334300407, "publish", 0.0, 1, "commits", 1328867207),
            Thing(18.748457171590378, "redeliver", 2.0, 8, "", 2282090589),
            Thing(20.64750125805531, "publish", 0.0, 6, "rolls back", 582115595),
            Thing(21.193025989337926, "publish", 3.0, 4, "commits", 2162956105),
            Thing(21.246406588650558, "publish", 0.0, 2, "commits", 4241766437),
            Thing(22.082507306545008, "hold", 6.0, 9, "", 3295092730),
        ),
        subjects=3,
        claim_seconds=30.0,
    ),
    "a delivery that waited for a slot was sent to a host that was held meanwhile": Plan(
        20702,
        2,
        16.0,
        0.03,
        (
            Thing(0.1, "drain", 2.5, 2, "", 1256654219),
            Thing(0.2, "limit", 0.0, 4, "", 2171262211),
            Thing(0.5661931398474725, "publish", 0.0, 6, "commits", 4219810005),
            Thing(0.8611532765288787, "publish", 0.0, 6, "commits", 4290383226),
            Thing(1.1721175919425304, "publish", 0.0, 6, "commits", 3376773864),
            Thing(1.2927307963980184, "publish", 0.0, 6, "commits", 291050072),
            Thing(1.294650970289608, "publish", 0.0, 6, "commits", 3788886706),
            Thing(1.3474308729352624, "publish", 0.0, 6, "commits", 3733406659),
            Thing(1.4836805589948308, "publish", 0.0, 6, "commits", 89527837),
            Thing(1.5569472023171078, "publish", 0.0, 6, "commits", 3813057309),
            Thing(1.6990672078576012, "publish", 0.0, 6, "commits", 3324492331),
            Thing(1.7199704657967356, "publish", 0.0, 6, "commits", 364662670),
            Thing(1.8784655340627998, "publish", 0.0, 6, "commits", 3426459932),
            Thing(2.1565887138015323, "publish", 0.0, 6, "commits", 292523082),
            Thing(2.5, "receiver", 9.0, 9, "is busy", 1367356041),
            Thing(3.2608903006861505, "hold", 6.0, 0, "", 2587434135),
            Thing(3.889643420390831, "publish", 0.0, 1, "commits", 315249398),
            Thing(5.2543020886421825, "publish", 0.0, 2, "commits", 2502745770),
            Thing(7.512335264861947, "publish", 0.0, 3, "commits", 2237134550),
            Thing(9.459941236420299, "broker away", 2.5, 3, "", 1140904441),
            Thing(10.130681183769001, "broker away", 2.5, 10, "", 2168969858),
            Thing(10.887764098429244, "broker away", 2.5, 9, "", 2678284523),
        ),
        small=True,
        subjects=40,
        claim_seconds=30.0,
    ),
    "the judge found a retry too early whose clock had been moved ahead": Plan(
        20931,
        3,
        18.0,
        0.03,
        (
            Thing(0.5, "receiver", 10.0, 9, "breaks", 2214426914),
            Thing(0.9644465309718497, "publish", 0.0, 3, "commits", 3267793096),
            Thing(9.403252537531813, "clock", 9.0, 7, "", 3948584662),
        ),
        small=False,
        subjects=3,
        claim_seconds=30.0,
    ),
    "a loop that was taken over claimed what its former lanes had": Plan(
        21021,
        3,
        19.645157848744162,
        2.0,
        (
            Thing(4.645157848744164, "freeze", 5.0, 12, "takes", 1024805986),
            Thing(4.736068706310693, "publish", 0.0, 3, "commits", 955830398),
            Thing(4.885901502417607, "publish", 0.0, 2, "commits", 3984287640),
            Thing(5.617055352984828, "publish", 0.0, 3, "commits", 2163529110),
            Thing(5.744347900676999, "publish", 0.0, 3, "commits", 714996693),
            Thing(6.201206543899518, "publish", 0.0, 1, "commits", 4276580488),
            Thing(6.571736902051671, "publish", 0.0, 2, "commits", 2143095886),
            Thing(6.673381718080471, "publish", 0.0, 2, "commits", 1913246243),
            Thing(6.970608727414969, "publish", 0.0, 1, "commits", 3707197169),
            Thing(7.236099798409074, "publish", 0.0, 1, "commits", 288312080),
            Thing(7.458991844498933, "publish", 0.0, 1, "commits", 58794781),
            Thing(8.376788031258801, "publish", 0.0, 2, "commits", 1856776803),
            Thing(8.489338714785362, "publish", 0.0, 1, "commits", 1617873915),
            Thing(8.50957865409059, "publish", 0.0, 1, "commits", 4152643826),
            Thing(8.73197318727289, "publish", 0.0, 2, "commits", 2103776943),
            Thing(9.738309861667256, "publish", 0.0, 3, "commits", 1284196220),
            Thing(10.112660605203583, "publish", 0.0, 2, "commits", 2375960991),
            Thing(10.445430764277098, "publish", 0.0, 3, "commits", 1309423416),
        ),
        small=True,
        subjects=3,
        claim_seconds=30.0,
    ),
    "the judge kept a lease that could not be renewed for nine seconds": Plan(
        21031,
        3,
        16.06564307431158,
        0.03,
        (
            Thing(2.065643074311582, "lines break", 9.0, 12, "before", 1263329866),
            Thing(2.108841321725716, "publish", 0.0, 1, "commits", 789952819),
            Thing(2.1891821662734707, "publish", 0.0, 1, "commits", 3063916073),
            Thing(2.538169122343693, "publish", 0.0, 1, "commits", 4105368121),
            Thing(3.2765051581986113, "publish", 0.0, 2, "commits", 2985606235),
            Thing(3.6444034756363277, "publish", 0.0, 2, "commits", 3365828651),
            Thing(4.50221023755565, "publish", 0.0, 1, "commits", 2162244534),
            Thing(4.758808087628228, "publish", 0.0, 1, "commits", 1121257972),
            Thing(6.743621659653359, "publish", 0.0, 3, "commits", 2632968737),
            Thing(7.879641347686691, "publish", 0.0, 1, "commits", 2954250395),
            Thing(8.142560490321578, "publish", 0.0, 1, "commits", 1295861831),
            Thing(8.867920835275376, "publish", 0.0, 1, "commits", 371070589),
            Thing(9.412968383929755, "publish", 0.0, 2, "commits", 3057158904),
            Thing(10.662929963853829, "publish", 0.0, 1, "commits", 2220555069),
            Thing(11.234211881655662, "publish", 0.0, 1, "commits", 1102150569),
            Thing(11.2649918092854, "publish", 0.0, 2, "commits", 1253383764),
            Thing(11.975042714576663, "publish", 0.0, 2, "commits", 856376130),
            Thing(12.696191389892514, "publish", 0.0, 1, "commits", 2076640383),
            Thing(13.360481648290857, "publish", 0.0, 3, "commits", 1192472138),
            Thing(13.650096759384486, "publish", 0.0, 2, "commits", 933712166),
        ),
        small=False,
        subjects=3,
        claim_seconds=30.0,
    ),
    "the judge counted a request of a killed loop as in flight for ever": Plan(
        21632,
        3,
        14.0,
        0.03,
        (
            Thing(0.15596146359660046, "publish", 0.0, 1, "commits", 3122424978),
            Thing(0.5, "receiver", 6.0, 7, "hangs", 2953616517),
            Thing(0.776294822909992, "publish", 0.0, 3, "commits", 3459715750),
            Thing(0.8266459194443634, "publish", 0.0, 1, "commits", 16535506),
            Thing(1.00665599612755, "publish", 0.0, 1, "commits", 1328630223),
            Thing(1.2031065569672281, "publish", 0.0, 2, "commits", 732412307),
            Thing(1.372828023434852, "publish", 0.0, 2, "commits", 3704483264),
            Thing(3.4950212860450196, "publish", 0.0, 1, "commits", 2349092673),
            Thing(5.3088139381651995, "publish", 0.0, 3, "commits", 445525928),
            Thing(5.564812689602164, "publish", 0.0, 1, "commits", 3945571746),
            Thing(5.634193475162344, "publish", 0.0, 1, "commits", 3510775477),
            Thing(5.982494119968312, "kill", 2.5, 11, "", 3842844336),
        ),
        small=False,
        subjects=3,
        claim_seconds=30.0,
    ),
}


@pytest.fixture
def world(transactional_db: None) -> Iterator[World]:
    """Yield the test's own database; the server must be able to read the file of the clock."""
    with TemporaryDirectory(prefix="parceldesk-clock-") as folder:
        Path(folder).chmod(0o755)
        new_world = World(Path(folder))
        yield new_world
        new_world.close()


@pytest.mark.parametrize(
    "first",
    [1, *(pytest.param(each, marks=pytest.mark.slow) for each in range(1, SEEDS, AT_ONCE)[1:])],
)
def test_runs_from_seeds_keep_every_promise(world: World, first: int) -> None:
    broken = {seed: play(drawn(seed), world)[1] for seed in range(first, first + AT_ONCE)}
    assert {seed: failures for seed, failures in broken.items() if failures} == {}


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
        "NOT lost AND takes_lanes AND id <> %(loop)s::uuid AND lease_until > statement_timestamp()",
        "id <> %(loop)s::uuid",
        "late",
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

    dice = [random.Random(seed) for seed in range(20)]  # noqa: S311 - a simulation
    drawn_plans = (scene(each, Plan(1, 3, 20.0, 0.03, ())) for each in dice)
    assert any(says(plan, world, words) for plan in drawn_plans)


def says(plan: Plan, world: World, words: str) -> bool:
    return any(re.search(words, each) for each in play(plan, world)[1])


def test_a_seed_that_fails_tells_a_short_story_each_time(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Shorten the plan to two things: events, and a receiver that fails."""
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
            Thing(0.5, "publish", 0.0, 6, "commits", 7),
            Thing(1.0, "rotate"),
            Thing(2.0, "publish", 0.0, 1, "commits", 8),
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
    assert [each.split()[1] for each in things] == ["receiver", "publish"]
    steps = [each for each in first if re.match(r"\d+\.\d{6} \w", each)]
    assert 0 < len(steps) <= running.LAST_STEPS
