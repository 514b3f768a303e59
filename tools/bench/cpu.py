"""Processor time of whole process trees, read from /proc."""

import os
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from time import monotonic

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def parent(pid: int) -> int:
    """Return a process's parent. Raises FileNotFoundError if there is no such process."""
    return stat(Path(f"/proc/{pid}/stat"))[0]


def stat(path: Path) -> tuple[int, int]:
    """Return the parent, and the ticks of the process and of its children that have ended."""
    # The second field is the program's name in brackets and may hold anything.
    fields = path.read_text(errors="replace").rpartition(")")[2].split()
    return int(fields[1]), sum(int(ticks) for ticks in fields[11:15])


def of_trees(roots: Mapping[str, int]) -> dict[str, float]:
    """Return seconds used so far by each process and its descendants, also those that ended.

    It follows descent and not process groups, because each of PostgreSQL's processes has its own.
    A process that does not exist (a server on another machine) has used 0.
    """
    ticks, children = processes()

    def total(pid: int) -> int:
        # 0 is the parent of the first process, and has all of the machine below it.
        return ticks[pid] + sum(map(total, children[pid])) if pid in ticks else 0

    return {name: total(pid) / TICKS_PER_SECOND for name, pid in roots.items()}


def tree(root: int) -> list[int]:
    """Return ids of the process and its descendants; empty if it does not exist."""
    ticks, children = processes()

    def below(pid: int) -> list[int]:
        return [pid, *(each for child in children[pid] for each in below(child))]

    return below(root) if root in ticks else []


def processes() -> tuple[dict[int, int], defaultdict[int, list[int]]]:
    """Return ticks of each process of the machine, and its children."""
    ticks: dict[int, int] = {}
    children: defaultdict[int, list[int]] = defaultdict(list)
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent_pid, used = stat(path)
        except (FileNotFoundError, ProcessLookupError):
            continue
        pid = int(path.parent.name)
        ticks[pid] = used
        children[parent_pid].append(pid)
    return ticks, children


class Meter:
    """Meter of the time that process trees use between `start` and `read`."""

    def __init__(self, roots: Mapping[str, int]) -> None:
        self.roots = roots
        self.start()

    def start(self) -> None:
        self.before = of_trees(self.roots)
        self.started = monotonic()

    def read(self) -> tuple[dict[str, float], float]:
        """Return CPU seconds by name, and wall-clock seconds."""
        now = of_trees(self.roots)
        used = {name: round(now[name] - self.before[name], 2) for name in self.roots}
        return used, monotonic() - self.started
