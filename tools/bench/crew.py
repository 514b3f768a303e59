"""Two workers, either of which may be killed or restarted during a measurement."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.conf import settings
from django.utils import timezone

from deliveries.models import Loop
from tools.bench import cpu, memory
from tools.bench.progress import say, until
from tools.bench.rig import Rig

WORKERS = ("worker-0", "worker-1")


class Crew:
    """Pair of workers, started by the command `through`: `with crew(rig) as all_of_them:`."""

    def __init__(self, rig: Rig, through: Sequence[str]) -> None:
        self.rig, self.through = rig, through
        # CPU seconds of each worker by process id; ended ones stay in the sum.
        self.seconds: dict[int, float] = {}

    def start(self, name: str) -> None:
        self.rig.service.start("worker", name, self.through)

    def settle(self) -> None:
        """Wait until engine loops are spread evenly over the workers."""
        until(lambda: are_even(len(WORKERS), settings.DELIVERY_LOOPS), "not all loops came up")

    def kill(self, name: str) -> None:
        """Kill a worker and its children with SIGKILL, and start it again at once."""
        self.used()
        self.rig.service.kill(name)
        self.start(name)

    def deploy(self) -> None:
        """Restart the workers one by one, each while the other works."""
        for name in WORKERS:
            self.settle()
            self.used()
            self.rig.end(name)
            self.start(name)
        self.settle()

    def used(self) -> float:
        """Return CPU seconds that workers have used so far.

        A worker's use between the last call and its end is missing.
        """
        pids = self.pids()
        for pid, used in cpu.of_trees({str(pid): pid for pid in pids}).items():
            self.seconds[int(pid)] = max(self.seconds.get(int(pid), 0.0), used)
        return sum(self.seconds.values())

    def pids(self) -> list[int]:
        running = dict(self.rig.service.processes)
        return [running[name].pid for name in WORKERS if name in running]

    def pss_mb(self) -> float:
        return sum(memory.of_tree(pid).pss_mb for pid in self.pids())


@contextmanager
def crew(rig: Rig, through: Sequence[str] = ()) -> Iterator[Crew]:
    say("starting two workers")
    workers = Crew(rig, through)
    for name in WORKERS:
        workers.start(name)
    try:
        workers.settle()
        yield workers
    finally:
        for name in list(rig.service.processes):
            rig.end(name)


def are_even(workers: int, loops: int) -> bool:
    """Return True if all workers have loops, and their counts differ by at most one."""
    running = Loop.objects.filter(heartbeat__lease_until__gt=timezone.now())
    teams = Counter(running.values_list("worker", flat=True))
    fewest = min(teams.values()) if len(teams) == min(workers, loops) else 0
    return fewest > 0 and max(teams.values()) <= fewest + 1
