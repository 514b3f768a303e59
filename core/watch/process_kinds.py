"""Kind of this process, for log lines and traces, and its work at exit. Pure."""

import atexit
from collections.abc import Callable

KINDS = ("command", "web", "worker", "engine", "scheduler")


class ProcessKind:
    """Kind of this process; forked children inherit it until they set their own."""

    name = KINDS[0]


def become_kind(name: str) -> None:
    """Set the kind of this process, one of KINDS."""
    ProcessKind.name = name


endings: list[Callable[[], object]] = []


def at_process_end(work: Callable[[], object]) -> None:
    """Call `work`, which may take two seconds, when this process or one of its forks ends."""
    endings.append(work)
    atexit.register(work)


def end_process() -> None:
    """Run the exit work, in processes that end by os._exit and so skip atexit."""
    for work in endings:
        work()
