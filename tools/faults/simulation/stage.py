"""Common ground of a run: its plan, clock, lines, network, and the ledger."""

import random
from typing import Any

from tools.faults.simulation.database import Lines
from tools.faults.simulation.network import Network
from tools.faults.simulation.plan import Plan
from tools.faults.simulation.scheduler import Scheduler
from tools.faults.simulation.world import World

Entry = dict[str, Any]


class Stage:
    """Plan on a world, with the ledger of its events, and of every statement with `story`."""

    def __init__(self, plan: Plan, world: World, *, story: bool = False) -> None:
        self.plan, self.world = plan, world
        self.dice = random.Random(plan.seed)  # noqa: S311 - a simulation
        self.scheduler = Scheduler(self.dice)
        self.ledger: list[Entry] = []
        self.lines = Lines(self.scheduler, world.observer, world.clock, world.spare)
        self.lines.tell = self.tell
        self.network = Network(self.scheduler, self.dice, self.tell)
        self.scheduler.between = self.lines.look_at_blocked
        if story:
            self.lines.note = lambda who, asks: self.tell("asks", who=who, asks=asks)

    def tell(self, what: str, **facts: Any) -> None:
        self.ledger.append({"at": round(self.scheduler.now, 6), "what": what, **facts})
