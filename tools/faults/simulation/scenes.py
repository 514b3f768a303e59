"""Scenes: combinations of things, in a certain order, that put one promise to the test.

Each takes dice and a plan without things, and adds those of the scene, at drawn times, and a stream
of events. Drawn independently, they would hardly ever coincide.
"""

import random
from collections.abc import Callable

from tools.faults.simulation.plan import (
    ACTS,
    ANY_LOOP,
    FAULTS,
    MOODS,
    STATEMENTS,
    Plan,
    Thing,
    roll,
)

Dice = random.Random
# Value of `which` for all receivers; a lower number is a single one, or a host.
ALL = 9
SILENT = [mood for mood, (status, *_, answered) in MOODS.items() if status is None or not answered]
# Seconds for which a loop is frozen: short enough to keep its lease, or long enough to lose it.
SHORT, LONG = (2.0, 2.5), (5.0, 9.0)
MANY_SUBJECTS = 40
# Twice the longest request plus the time to record it.
SHORT_CLAIM_SECONDS = 12.0


def thing(
    dice: Dice, at: float, what: str, seconds: float = 0.0, how: str = "", which: int | None = None
) -> Thing:
    """Build a thing that happens to a random target, or to `which`."""
    chosen = dice.randrange(12) if which is None else which
    return Thing(max(at, 0.0), what, seconds, chosen, how, roll(dice))


def stream(dice: Dice, since: float, until: float, most: int = 30) -> list[Thing]:
    """Draw a stream of small transactions."""
    times = (dice.uniform(since, until) for _ in range(dice.randint(most // 2, most)))
    return [thing(dice, at, "publish", 0.0, "commits", dice.randint(1, 3)) for at in times]


def one_fault(dice: Dice, plan: Plan) -> Plan:
    """Play a single fault, so that no other one can excuse a late delivery."""
    kinds = [each for each in FAULTS if each != "receiver"]
    what = dice.choice(kinds)
    at = dice.uniform(2.0, 6.0)
    how = dice.choice(("before", "after", "hangs"))
    if what in ("kill", "freeze"):
        how = dice.choice(("sent", "seen", "ended", *STATEMENTS))
    if what == "late statement":
        how = dice.choice(list(STATEMENTS))
    if what == "line breaks":
        how = f"{how} {dice.choice(list(STATEMENTS))}"
    things = [thing(dice, at, what, dice.choice((2.5, 5.0, 9.0)), how, ANY_LOOP)]
    return plan._replace(calm_at=at + 14.0, things=(*things, *stream(dice, at - 2.0, at + 12.0)))


def one_lost(dice: Dice, plan: Plan) -> Plan:
    """Lose a loop with requests in flight, while its webhooks get more events."""
    at = dice.uniform(2.0, 4.0)
    what = dice.choice(("kill", "kill", "freeze"))
    how = dice.choice(("sent", "seen", "claims", "takes"))
    things = [thing(dice, at, what, 20.0, how, ANY_LOOP), *stream(dice, at - 1.0, at + 9.0, 40)]
    return plan._replace(loops=2, calm_at=at + 14.0, things=tuple(things))


def one_act(dice: Dice, plan: Plan) -> Plan:
    """Play an act while there is a backlog."""
    often = ("pause", "pause", "company off", "hold", "drain", "delete")
    acts = [thing(dice, dice.uniform(3.0, 4.0), dice.choice((*often, *ACTS)), 6.0)]
    return backlog(dice, plan, [*acts, thing(dice, 2.5, "receiver", 9.0, "is busy", ALL)])


def stale(dice: Dice, plan: Plan) -> Plan:
    """Slow receivers down after many deliveries were claimed for them."""
    at = dice.uniform(5.0, 9.0)
    return backlog(
        dice,
        plan,
        [
            thing(dice, 2.0, "database slow", 8.0),
            thing(dice, 2.0, "receiver", at - 2.0, "is busy", ALL),
            thing(dice, at, "receiver", 40.0, "is very slow", ALL),
        ],
    )._replace(calm_at=40.0, linger=dice.choice((0.03, 2.0)), claim_seconds=SHORT_CLAIM_SECONDS)


def backlog(dice: Dice, plan: Plan, also: list[Thing]) -> Plan:
    """Build up a backlog for all receivers, some of which take one request at a time."""
    things = [thing(dice, 0.1, "drain", 2.5), *also, *stream(dice, 3.0, 10.0, 6)]
    things += [thing(dice, dice.uniform(0.2, 2.5), "publish", 0.0, "commits", 6) for _ in range(12)]
    things += [thing(dice, 0.2, "limit") for _ in range(dice.randint(0, 4))]
    return plan._replace(calm_at=16.0, subjects=MANY_SUBJECTS, things=tuple(things))


def new_secrets(dice: Dice, plan: Plan) -> Plan:
    """Rotate secrets while loops cache their webhooks."""
    things = [thing(dice, dice.uniform(2.0, 10.0), "rotate") for _ in range(6)]
    things += stream(dice, 0.5, 14.0, 60)
    return plan._replace(calm_at=15.0, things=tuple(things))


def too_late(dice: Dice, plan: Plan) -> Plan:
    """Bring a loop back with a failure, while another one repeats the delivery."""
    at = dice.uniform(2.0, 6.0)
    things = [
        thing(dice, at - 0.5, "receiver", 4.0, "errors", ALL),
        thing(dice, at, "freeze", dice.choice((5.0, 5.5, 6.0)), "ended", ANY_LOOP),
        thing(dice, at + 3.5, "receiver", 12.0, "hangs", ALL),
        *stream(dice, at - 0.3, at + 0.2, 4),
    ]
    return plan._replace(loops=dice.choice((2, 3)), calm_at=at + 20.0, things=tuple(things))


def given_up(dice: Dice, plan: Plan) -> Plan:
    """Let a loop continue its work after it has lost its lease."""
    at = dice.uniform(2.0, 5.0)
    seconds = dice.choice(LONG)
    how = dice.choice(("renews", "takes", "claims", "records", "commits", "commits"))
    things = [thing(dice, at, "freeze", seconds, how, ANY_LOOP)]
    if dice.random() < 0.5:
        # Results that are recorded then change the health of webhooks, in a transaction.
        things.append(thing(dice, at - 1.0, "receiver", seconds, "errors", ALL))
    things += stream(dice, at, at + seconds + 1.0)
    if dice.random() < 0.5:
        things.append(thing(dice, at + seconds - 2.0, "broker away", 3.0))
    return plan._replace(loops=dice.choice((2, 3)), calm_at=at + 15.0, things=tuple(things))


def last_words(dice: Dice, plan: Plan) -> Plan:
    """Let the last statement of a loop arrive once the others have taken over.

    Then events come for webhooks that no loop has, and that nobody looks for at once.
    """
    at, seconds = dice.uniform(1.0, 4.0), dice.choice((6.5, 7.5, 8.5))
    arrives = at + seconds
    how = dice.choice(("takes", "takes", "takes", "claims", "records", "releases"))
    things = [
        thing(dice, at, "late statement", seconds, how, ANY_LOOP),
        *stream(dice, at, at + 0.1, 4),
        thing(dice, arrives - 2.0, "broker away", 4.0),
        *stream(dice, arrives - 0.6, arrives + 0.4, 16),
    ]
    return plan._replace(loops=2, calm_at=arrives + 9.0, things=tuple(things))


def given_up_at_work(dice: Dice, plan: Plan) -> Plan:
    """Let a loop take webhooks between the moment when another one frees them and its commit.

    It commits just before the server would end its idle transaction.
    """
    at = dice.uniform(1.0, 4.0)
    things = [
        thing(dice, at, "late statement", 5.3, "takes", ANY_LOOP),
        *stream(dice, at, at + 0.1, 4),
        thing(dice, at + 3.0, "late statement", 1.9, "commits", ANY_LOOP),
        *stream(dice, at + 4.8, at + 5.4, 16),
    ]
    return plan._replace(loops=dice.choice((2, 2, 3)), calm_at=at + 16.0, things=tuple(things))


def handed_over(dice: Dice, plan: Plan) -> Plan:
    """Let loops share a backlog after which no event comes, long after one of them was lost."""
    things = [
        thing(dice, 0.3, "kill", dice.choice((7.5, 8.5))),
        thing(dice, 6.0, "receiver", 12.0, dice.choice(("is busy", "is slow")), ALL),
        *(thing(dice, dice.uniform(7.0, 7.6), "publish", 0.0, "commits", 6) for _ in range(12)),
        *(thing(dice, 0.2, "limit") for _ in range(dice.randint(0, 4))),
    ]
    return plan._replace(
        loops=3, small=True, calm_at=22.0, subjects=MANY_SUBJECTS, things=tuple(things)
    )


def clock_jumps(dice: Dice, plan: Plan) -> Plan:
    """Let leases run out at once, while statements are slow."""
    at = dice.uniform(2.0, 6.0)
    things = [
        thing(dice, at, "database slow", 8.0),
        *(thing(dice, at + 2.0 * jump, "clock", 9.0) for jump in range(1, 4)),
        *stream(dice, at, at + 9.0, 40),
    ]
    return plan._replace(loops=dice.choice((2, 3)), calm_at=at + 9.0, things=tuple(things))


def outage(dice: Dice, plan: Plan) -> Plan:
    """Make the database unavailable for longer than a lease, with requests in flight."""
    at = dice.uniform(3.0, 6.0)
    things = [
        thing(dice, at, "database away", dice.choice((5.0, 9.0))),
        thing(dice, at - 3.0, "receiver", 5.0, dice.choice(("is slow", "is very slow")), ALL),
        *stream(dice, at - 3.0, at, 20),
    ]
    return plan._replace(loops=dice.choice((2, 3)), calm_at=at + 12.0, things=tuple(things))


def silence(dice: Dice, plan: Plan) -> Plan:
    """Silence a receiver for long, so that its webhook rests, with few events for it."""
    seconds = dice.choice((6.0, 10.0, 20.0))
    things = [thing(dice, 0.5, "receiver", seconds, dice.choice(SILENT))]
    things += stream(dice, 0.0, 2.0, 8) + stream(dice, 2.0, seconds + 6.0, 8)
    if dice.random() < 0.4:
        what = dice.choice(("restart", "kill", "freeze", "receiver"))
        how = "errors" if what == "receiver" else ""
        things.append(thing(dice, dice.uniform(1.0, seconds), what, 2.5, how))
    return plan._replace(calm_at=seconds + 8.0, things=tuple(things))


def told(dice: Dice, plan: Plan) -> Plan:
    """Let receivers say when to come back, or not to, while events and acts keep coming."""
    how = dice.choice(("asks for rest", "asks for rest", "is gone"))
    things = [thing(dice, 2.0, "receiver", dice.choice((3.0, 8.0)), how), *stream(dice, 0.5, 16.0)]
    for _ in range(dice.randint(0, 2)):
        what = dice.choice(("redeliver", "recover", "pause", "restart", "freeze"))
        things.append(thing(dice, dice.uniform(3.0, 14.0), what, 2.5))
    return plan._replace(calm_at=18.0, things=tuple(things))


def told_in_a_rush(dice: Dice, plan: Plan) -> Plan:
    """Let receivers ask for rest while they still answer what they were sent before."""
    at = dice.uniform(3.0, 4.0)
    return backlog(
        dice,
        plan,
        [
            thing(dice, 2.0, "receiver", at - 2.0, dice.choice(("is busy", "is slow")), ALL),
            thing(dice, at, "receiver", dice.choice((0.5, 3.0)), "asks for rest", ALL),
        ],
    )


def asked_for(dice: Dice, plan: Plan) -> Plan:
    """Ask for deliveries that have arrived, wait for a retry, or are in flight."""
    how = dice.choice(("errors", "is slow", "is very slow", "hangs"))
    things = [thing(dice, 0.0, "receiver", 9.0, how, ALL), *stream(dice, 0.5, 4.0)]
    for _ in range(8):
        what = dice.choice(("redeliver", "redeliver", "recover"))
        things.append(thing(dice, dice.uniform(1.0, 14.0), what))
    return plan._replace(calm_at=18.0, things=tuple(things))


def overtaken(dice: Dice, plan: Plan) -> Plan:
    """Commit events while later ones of their subjects wait for a retry."""
    at = dice.uniform(2.0, 3.0)
    things = [
        thing(dice, at, "receiver", 0.5, dice.choice(("errors", "breaks", "loses answers")), ALL),
        thing(dice, at + 1.0, "receiver", 4.0, dice.choice(("is busy", "is slow")), ALL),
        *(thing(dice, at, "publish", dice.uniform(1.5, 2.5), "commits", 3) for _ in range(3)),
        *stream(dice, at + 0.1, at + 0.4, 8),
    ]
    return plan._replace(calm_at=at + 6.0, things=tuple(things))


def sharing(dice: Dice, plan: Plan) -> Plan:
    """Let loops share webhooks while they start and stop."""
    things = stream(dice, 0.5, 16.0, 60)
    things += [thing(dice, 1.0, "receiver", 12.0, dice.choice(("is busy", "is slow")), ALL)]
    for _ in range(dice.randint(0, 3)):
        what = dice.choice(("restart", "kill", "freeze"))
        things.append(thing(dice, dice.uniform(3.0, 15.0), what, 2.5))
    return plan._replace(loops=3, small=True, calm_at=18.0, things=tuple(things))


def deploy(dice: Dice, plan: Plan) -> Plan:
    """Restart loops one after the other, with requests in flight and a backlog."""
    things = [thing(dice, 2.5, "receiver", 9.0, dice.choice(("is busy", "is slow")), ALL)]
    for loop in dice.sample(range(3), 2):
        things.append(thing(dice, dice.uniform(3.0, 5.0), "restart", which=loop))
    return backlog(dice, plan._replace(loops=3), things)


def unseen(dice: Dice, plan: Plan) -> Plan:
    """Freeze loops as answers arrive, and thaw them before they lose their leases.

    With few events, nothing else reminds a loop of a webhook whose answer it has missed.
    """
    most, times = dice.choice(((30, (3.0, 7.0, 11.0, 15.0)), (8, (5.0, 13.0))))
    things = [thing(dice, 0.0, "receiver", 20.0, "is very slow", ALL)]
    things += stream(dice, 0.0, 18.0, most)
    for at in times:
        things.append(thing(dice, at, "freeze", dice.choice(SHORT), "ended", ANY_LOOP))
    return plan._replace(calm_at=20.0, things=tuple(things))


def answers_lost(dice: Dice, plan: Plan) -> Plan:
    """Lose the answers of executed statements."""
    things = stream(dice, 0.5, 14.0)
    things += [thing(dice, 0.5, "receiver", 5.0, dice.choice(list(MOODS)))]
    for _ in range(dice.randint(1, 4)):
        how = f"{dice.choice(('after', 'after', 'hangs'))} {dice.choice(list(STATEMENTS))}"
        things.append(thing(dice, dice.uniform(1.0, 12.0), "line breaks", 0.0, how, ANY_LOOP))
    return plan._replace(calm_at=16.0, things=tuple(things))


def absent(dice: Dice, plan: Plan) -> Plan:
    """Freeze the only loop for longer than its claims last."""
    at = dice.uniform(2.0, 4.0)
    how = dice.choice(("claims", "sent", "takes", ""))
    things = [thing(dice, at, "freeze", 35.0, how), *stream(dice, at - 1.0, at + 5.0)]
    return plan._replace(loops=1, calm_at=at + 45.0, things=tuple(things))


SCENES: tuple[Callable[[Dice, Plan], Plan], ...] = (
    one_fault,
    one_fault,
    one_lost,
    one_act,
    one_act,
    stale,
    new_secrets,
    too_late,
    given_up,
    last_words,
    last_words,
    given_up_at_work,
    clock_jumps,
    outage,
    silence,
    silence,
    told,
    told_in_a_rush,
    asked_for,
    asked_for,
    overtaken,
    sharing,
    sharing,
    handed_over,
    deploy,
    unseen,
    answers_lost,
    absent,
)
