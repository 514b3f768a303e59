"""Who is using a data folder: one `./dev run`, or any number of `./dev manage` at once.

Three files in the folder. `servers.lock` is held by whoever has started the servers, `owner.json`
says who that is and what they serve, and `users.lock` is held by every command that uses servers
which another `./dev manage` has started, so that it can wait for them before it stops them.
"""

import os
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tools.dev.environment import read_private, write_private
from tools.dev.locks import try_lock
from tools.dev.trouble import UsageError, say

# Long enough for a killed launcher's helpers to say that they are on their way out.
DOUBT_SECONDS = 1.5
# A `run` has ten seconds to stop in, a first start its migrations to run.
PATIENCE_SECONDS = 60


@dataclass
class Owner:
    """What the holder of `servers.lock` tells the others."""

    command: str
    pid: int
    address: str = ""
    ready: bool = False
    stopping: bool = False
    environment: dict[str, str] = field(default_factory=dict)

    def write(self, data: Path) -> None:
        write_private(data / "owner.json", asdict(self))


def read_owner(data: Path) -> Owner | None:
    """Who has the folder, if they have said so and live: the file outlasts a kill -9."""
    said = read_private(data / "owner.json")
    return Owner(**said) if said and is_alive(said["pid"]) else None


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def own(data: Path) -> int:
    """Take the folder for `./dev run`, after whoever is just leaving it; the lock to keep.

    Raises Trouble when another `run` is up.
    """
    start = time.monotonic()
    told = False
    while (lock := try_lock(data / "servers.lock")) is None:
        owner = read_owner(data)
        waited = time.monotonic() - start
        staying = owner is not None and owner.command == "run" and not owner.stopping
        if waited > (DOUBT_SECONDS if staying else PATIENCE_SECONDS):
            raise UsageError(f"already running: {described(owner)} uses {data}")
        if waited > DOUBT_SECONDS and not told:
            say(f"waiting for {described(owner)} to finish with {data}")
            told = True
        time.sleep(0.1)
    return lock


def described(owner: Owner | None) -> str:
    if owner is None:
        return "another ./dev"
    return " ".join(filter(None, [f"./dev {owner.command} (process {owner.pid})", owner.address]))


def own_or_join(data: Path) -> tuple[int, Owner | None]:
    """For `./dev manage`: the lock of servers to start, or a lock to use another's with.

    The second of the pair is the owner of the servers in use, None when they are ours to start.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        if (lock := try_lock(data / "servers.lock")) is not None:
            return lock, None
        use = try_lock(data / "users.lock", shared=True)
        if use is not None:
            owner = read_owner(data)
            if owner and owner.ready and not owner.stopping and is_held(data):
                return use, owner
            os.close(use)
        time.sleep(0.1)
    raise UsageError(f"{described(read_owner(data))} uses {data} and is not getting ready")


def is_held(data: Path) -> bool:
    lock = try_lock(data / "servers.lock")
    if lock is not None:
        os.close(lock)
    return lock is None


def wait_for_users(data: Path) -> int:
    """Return when no other command uses our servers, with the lock that keeps new ones off."""
    told = False
    while (lock := try_lock(data / "users.lock")) is None:
        if not told:
            say("another ./dev manage uses the servers this one has started; waiting for it")
            told = True
        time.sleep(0.1)
    return lock
