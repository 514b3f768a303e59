"""Run of a plan: loops, receivers and people on one thread, noted in a ledger."""

from contextlib import closing

from tools.faults.simulation.acts import ACTS_WITH_END, Acts
from tools.faults.simulation.database import Line
from tools.faults.simulation.loops import Loop
from tools.faults.simulation.plan import LADDER, Plan, Thing
from tools.faults.simulation.process import in_simulated_time
from tools.faults.simulation.scheduler import Actor
from tools.faults.simulation.stage import Entry, Stage
from tools.faults.simulation.troubles import Troubles
from tools.faults.simulation.world import World, secret_of

# A run ends when nothing waits, or this long after `calm_at`; deliveries waiting then are lost.
SETTLE_SECONDS = 150.0
# Time until each place has its loop again: a statement may hang for ten seconds.
JOINED_SECONDS = 20.0


class Run(Stage):
    """Run of a plan on a world, noted in the ledger."""

    def __init__(self, plan: Plan, world: World, *, story: bool = False) -> None:
        super().__init__(plan, world, story=story)
        self.loops: list[Loop] = []
        self.people: list[Actor] = []
        self.troubles, self.acts = Troubles(self, self.loops), Acts(self)
        self.lines.trouble_of = self.troubles.of_statement
        self.lines.is_away = self.troubles.database_is_away
        self.network.mood_of, self.network.comes = self.troubles.mood_of, self.troubles.comes

    def play(self) -> list[Entry]:
        """Play the plan; return the ledger."""
        with in_simulated_time(self, self.ring), closing(self.lines):
            self.world.begin()
            self.tell("world", webhooks=self._webhooks(), ladder=LADDER, loops=self.plan.loops)
            self.loops += [Loop(self, number) for number in range(self.plan.loops)]
            for number, thing in enumerate(self.plan.things):
                self.scheduler.at(thing.at, lambda n=number, each=thing: self._begin(n, each))
            self.scheduler.run(self.plan.calm_at)
            self.tell("calm")
            self.troubles.end_all()
            self.scheduler.run(self.plan.calm_at + JOINED_SECONDS)
            self.tell("settled", loops=self.world.loops())
            end = self.plan.calm_at + SETTLE_SECONDS
            while self.scheduler.now < end and (self._acting() or self.world.waits()):
                self.scheduler.run(self.scheduler.now + 1.0)
            for loop in self.loops:
                loop.stop()
            self.scheduler.run(self.scheduler.now + 15.0)
            self.tell("over", waits=self.world.waits(), deliveries=self.world.deliveries())
            for loop in self.loops:
                loop.kill()
            for actor in self.people:
                self.lines.cut(actor)
                actor.end(None)
        return self.ledger

    def _begin(self, number: int, thing: Thing) -> None:
        if self.troubles.begin(thing):
            return
        actor = self._act(number, thing)
        if thing.what in ACTS_WITH_END:
            at = min(thing.at + thing.seconds, self.plan.calm_at)
            self.scheduler.at(at, lambda: self._end(number, thing, actor))

    def _end(self, number: int, thing: Thing, actor: Actor) -> None:
        """End an act once it has been carried out."""
        if actor.over:
            self._act(number, thing._replace(what=f"{thing.what} ends"))
        else:
            self.scheduler.at(self.scheduler.now + 0.1, lambda: self._end(number, thing, actor))

    def _act(self, number: int, thing: Thing) -> Actor:
        actor = Actor(self.scheduler, f"{thing.what} {number}", "", lambda: self._do(thing, actor))
        self.people.append(actor)
        self.lines.open_for(actor, Line(actor, self.lines))
        return actor

    def _do(self, thing: Thing, actor: Actor) -> None:
        # Retry an act that ends another, or an erasure, until it succeeds.
        again = thing.what.endswith(" ends") or thing.what == "erase"
        while self.acts.do(thing, actor) == "unsure" and again:
            actor.connection.close()
            actor.wait(self.scheduler.now + 1.0)
        self.lines.release(actor)

    def _acting(self) -> bool:
        return any(not each.over for each in self.people)

    def _webhooks(self) -> list[Entry]:
        rows = self.world.observer.execute(
            "SELECT id, company_id, type_id, url, max_in_flight FROM webhooks_webhook"
            " WHERE id = ANY(%s) ORDER BY id",
            [self.world.webhooks],
        ).fetchall()
        names = ("webhook", "company", "type", "url", "most")
        webhooks = [dict(zip(names, row, strict=True)) for row in rows]
        return [{**each, "secret": secret_of(place)} for place, each in enumerate(webhooks)]

    def ring(self, *_: object, **__: object) -> None:
        """Ring the doorbell, which arrives in a moment, or not at all without the broker."""
        if not self.troubles.broker_is_away():
            at = self.scheduler.now + 0.002 * self.dice.random()
            self.scheduler.at(at, self._ring_all)

    def _ring_all(self) -> None:
        for loop in self.loops:
            loop.bell.ring()
