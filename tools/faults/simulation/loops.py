"""Places of workers, each with an engine loop that is replaced after its end."""

from deliveries.engine import leases
from deliveries.engine.loop import Engine
from tools.faults.simulation.database import Runner
from tools.faults.simulation.network import Bell, Transport
from tools.faults.simulation.scheduler import Actor
from tools.faults.simulation.stage import Stage


class Loop:
    """Place of a worker: an engine loop, which is replaced after its end."""

    def __init__(self, run: Stage, number: int) -> None:
        self.run, self.number = run, number
        self.host = f"host-{number % 2}"
        self.stopping = False
        self.times = 0
        self.start()

    def start(self) -> None:
        self.times += 1
        self.stopping = False
        name = f"loop {self.number}.{self.times}"
        self.actor = Actor(self.run.scheduler, name, self.host, self._work)
        self.runner = Runner(self.actor, self.run.lines)
        self.bell = Bell(self.actor)
        idle_seconds = leases.IDLE_IN_TRANSACTION_SECONDS
        self.run.lines.open_for(self.actor, self.runner, idle_seconds, POOLED=False)
        self.run.tell("started", who=name)

    def _work(self) -> None:
        try:
            while not self.stopping:
                transport = Transport(self.actor, self.run.network, self.bell, self.runner)
                Engine(transport, lambda: self.stopping, self.runner, self.bell).run()  # type: ignore[arg-type]
                if not self.stopping:
                    self.actor.wait(self.run.scheduler.now + 3.0)
            self.run.tell("stopped", who=self.actor.name)
            self.run.lines.release(self.actor)
        except Exception as error:
            self.run.tell("crashed", who=self.actor.name, error=repr(error))
            self.run.lines.cut(self.actor)

    def kill(self) -> None:
        if self.actor.over:
            return
        self.run.tell("killed", who=self.actor.name)
        self.run.lines.cut(self.actor)
        self.actor.end(self.runner.work)

    def stop(self) -> None:
        self.stopping = True
        self.run.tell("stopping", who=self.actor.name)
        self.bell.ring()

    def start_again(self) -> None:
        """Make sure that a loop runs here, replacing one that has ended or is stopping."""
        if self.actor.over or self.stopping:
            self.kill()
            self.start()
