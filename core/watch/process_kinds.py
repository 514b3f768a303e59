"""What kind of process this is, as log lines and traces say, and how it ends. Pure."""

import atexit
from collections.abc import Callable

KINDS = ("command", "web", "worker", "engine", "scheduler")


class ProcessKind:
    """Of this process; what it forks is of the same kind until it says otherwise."""

    name = KINDS[0]


def become_kind(name: str) -> None:
    """From now on this process is one of KINDS."""
    ProcessKind.name = name


endings: list[Callable[[], object]] = []


def at_process_end(work: Callable[[], object]) -> None:
    """Call `work`, which may take two seconds, when this process ends, or one that it forks."""
    endings.append(work)
    atexit.register(work)


def end_process() -> None:
    """For processes that end without Python's own ending."""
    for work in endings:
        work()
