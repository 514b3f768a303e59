"""Faults of a run, with the names used in plans."""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from tools.faults.simulation.loops import Loop
from tools.faults.simulation.network import WELL, Mood
from tools.faults.simulation.plan import ANY_LOOP, BREAKS, MOODS, STATEMENTS, Thing
from tools.faults.simulation.scheduler import Actor
from tools.faults.simulation.stage import Stage
from tools.faults.simulation.world import HOSTS

# Share of statements that are lost while lines break.
BREAK_PART = 0.15
# Largest delay of a statement, and of its answer, while the database is slow.
SLOW_SECONDS = 1.0
RESTART_SECONDS, STOPS_WITHIN = 0.2, 12.0
# A loop whose last statement is late dies this long after the arrival, and has no successor until
# the others have looked for what it left behind.
DIES_SECONDS, NOBODY_SECONDS = 0.1, 6.0


class Troubles:
    """Faults of a run, and their effect on statements and requests."""

    def __init__(self, run: Stage, loops: Sequence[Loop]) -> None:
        self.run, self.loops, self.scheduler = run, loops, run.scheduler
        self.database_away_until = self.broker_away_until = -math.inf
        self.windows: list[tuple[float, Thing]] = []
        # Faults that wait for a moment of their loop, or of any loop if it is None.
        self.armed: list[tuple[Loop | None, str, Callable[[Loop], None]]] = []

    def begin(self, thing: Thing) -> bool:
        """Begin a planned fault; return False if the thing is not a fault."""
        trouble = getattr(self, "make_" + thing.what.replace(" ", "_"), None)
        if trouble is None:
            return False
        self.run.tell("fault", fault=thing.what, how=thing.how, seconds=thing.seconds)
        trouble(thing)
        return True

    def end_all(self) -> None:
        """End all faults, and restart missing loops."""
        self.windows.clear()
        self.armed.clear()
        self.database_away_until = self.broker_away_until = -math.inf
        for loop in self.loops:
            loop.actor.frozen_until = -math.inf
            if loop.actor.over or loop.stopping:
                self.scheduler.at(self.scheduler.now + 1.0, loop.start_again)

    def make_kill(self, thing: Thing) -> None:
        self._at_its_moment(thing, lambda loop: self._lose(loop, thing.seconds))

    def make_kill_host(self, thing: Thing) -> None:
        for loop in self.loops:
            if loop.number % 2 == thing.which % 2:
                loop.actor.host_is_gone = True
                self._lose(loop, thing.seconds)

    def make_restart(self, thing: Thing) -> None:
        loop = self._loop(thing)
        loop.stop()
        self._again_in(loop, STOPS_WITHIN)

    def make_freeze(self, thing: Thing) -> None:
        self._at_its_moment(thing, lambda loop: self._freeze(loop, thing.seconds))

    def make_late_statement(self, thing: Thing) -> None:
        """Let a loop do nothing more after a statement, which takes `seconds` to arrive."""
        self._arm(thing, f"late {thing.how}", lambda loop: self._say_last(loop, thing.seconds))

    def make_lines_break(self, thing: Thing) -> None:
        self.windows.append((self.scheduler.now + thing.seconds, thing))

    def make_line_breaks(self, thing: Thing) -> None:
        self._arm(thing, thing.how, lambda loop: None)

    make_database_slow = make_receiver = make_lines_break

    def make_database_away(self, thing: Thing) -> None:
        self.database_away_until = self.scheduler.now + thing.seconds

    def make_broker_away(self, thing: Thing) -> None:
        self.broker_away_until = self.scheduler.now + thing.seconds

    def make_clock(self, thing: Thing) -> None:
        """Move the database's clock forward or back by at most 3.5 seconds."""
        self.scheduler.wall_moved += (thing.seconds - 2.0) / 2
        self.run.tell("clock", moved=self.scheduler.wall_moved)

    def database_is_away(self) -> bool:
        return self.scheduler.now < self.database_away_until

    def broker_is_away(self) -> bool:
        return self.scheduler.now < self.broker_away_until

    def of_statement(self, actor: Actor) -> tuple[str, float, float]:
        """Return the trouble and delays of an actor's next statement, for `Lines`."""
        dice = self.run.dice
        longest = SLOW_SECONDS if any(self._open("database slow")) else self.run.plan.latency
        there, back = dice.random() * longest, dice.random() * longest
        for moment, beginning in STATEMENTS.items():
            if actor.asks.startswith(beginning):
                self.comes(moment, actor, dice.random() * (there + back))
                for say_last in self._disarm(f"late {moment}", actor):
                    say_last()
                    there = actor.frozen_until - self.scheduler.now - 2 * DIES_SECONDS
                for trouble in BREAKS:
                    if self._disarm(f"{trouble} {moment}", actor):
                        return trouble, there, back
        for each in self._open("lines break"):
            if dice.random() < BREAK_PART:
                return each.how, there, back
        return "", there, back

    def mood_of(self, url: str) -> Mood:
        """Return the current behaviour of the receiver at a URL."""
        for each in self._open("receiver"):
            # A single receiver, those of a host, or all.
            places = ("a0", "a1", "a2", "b0", "b1", "b2", *HOSTS, "https:")
            if places[each.which % len(places)] in url.split("/"):
                return Mood(each.how, *MOODS[each.how])
        return WELL

    def _open(self, what: str) -> Iterator[Thing]:
        now = self.scheduler.now
        return (each for until, each in self.windows if each.what == what and now < until)

    def _loop(self, thing: Thing) -> Loop:
        return self.loops[thing.which % len(self.loops)]

    def comes(self, moment: str, actor: Actor, within: float = 0.0) -> None:
        """Schedule the faults that wait for this moment of a loop, up to `within` seconds later."""
        for trouble in self._disarm(moment, actor):
            self.scheduler.at(self.scheduler.now + within, trouble)

    def _disarm(self, moment: str, actor: Actor) -> list[Callable[[], None]]:
        calls: list[Callable[[], None]] = []
        remaining = []
        for each in self.armed:
            loop, waits_for, trouble = each
            mine = [own for own in self.loops if own.actor is actor and loop in (own, None)]
            if waits_for == moment and mine:
                calls.append(partial(trouble, mine[0]))
            else:
                remaining.append(each)
        self.armed = remaining
        return calls

    def _arm(self, thing: Thing, moment: str, trouble: Callable[[Loop], None]) -> None:
        loop = None if thing.which == ANY_LOOP else self._loop(thing)
        self.armed.append((loop, moment, trouble))

    def _at_its_moment(self, thing: Thing, trouble: Callable[[Loop], None]) -> None:
        if thing.how:
            self._arm(thing, thing.how, trouble)
        else:
            trouble(self._loop(thing))

    def _freeze(self, loop: Loop, seconds: float) -> None:
        loop.actor.frozen_until = self.scheduler.now + seconds
        self.run.tell("frozen", who=loop.actor.name, until=loop.actor.frozen_until)

    def _say_last(self, loop: Loop, seconds: float) -> None:
        """Freeze a loop until its statement has arrived, and kill it then."""
        actor = loop.actor
        self._freeze(loop, seconds + 2 * DIES_SECONDS)

        def die() -> None:
            if loop.actor is actor and self.scheduler.now < self.run.plan.calm_at:
                self._lose(loop, NOBODY_SECONDS)

        self.scheduler.at(self.scheduler.now + seconds + DIES_SECONDS, die)

    def _lose(self, loop: Loop, seconds: float) -> None:
        loop.kill()
        self._again_in(loop, seconds)

    def _again_in(self, loop: Loop, seconds: float) -> None:
        at = self.scheduler.now + RESTART_SECONDS + seconds
        if at < self.run.plan.calm_at:
            self.scheduler.at(at, loop.start_again)
