"""Two workers, of which any may be killed or restarted while others are measured."""

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
    """`with crew(rig) as all_of_them:`; `through` is what a worker is started by."""

    def __init__(self, rig: Rig, through: Sequence[str]) -> None:
        self.rig, self.through = rig, through
        # Processor time of each worker by process id; those that have ended stay in the sum.
        self.seconds: dict[int, float] = {}

    def start(self, name: str) -> None:
        self.rig.service.start("worker", name, self.through)

    def settle(self) -> None:
        """Wait until each worker has an engine loop, and as many as the others."""
        until(lambda: are_even(len(WORKERS), settings.DELIVERY_LOOPS), "not all loops came up")

    def kill(self, name: str) -> None:
        """SIGKILL for the worker and all that it has forked; it is started again at once."""
        self.used()
        self.rig.service.kill(name)
        self.start(name)

    def deploy(self) -> None:
        """Restart them one by one, each when the other is at work."""
        for name in WORKERS:
            self.settle()
            self.used()
            self.rig.end(name)
            self.start(name)
        self.settle()

    def used(self) -> float:
        """Seconds of the processor that workers have used so far.

        What one uses between this and its end is not in it.
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
    made = Crew(rig, through)
    for name in WORKERS:
        made.start(name)
    try:
        made.settle()
        yield made
    finally:
        for name in list(rig.service.processes):
            rig.end(name)


def are_even(workers: int, loops: int) -> bool:
    """Return whether workers have loops, and none has two more than another."""
    running = Loop.objects.filter(lost=False, lease_until__gt=timezone.now())
    teams = Counter(running.values_list("worker", flat=True))
    fewest = min(teams.values()) if len(teams) == min(workers, loops) else 0
    return fewest > 0 and max(teams.values()) <= fewest + 1
