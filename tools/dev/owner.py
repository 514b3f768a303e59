"""Users of a data folder: one `./dev run`, or any number of `./dev manage` at once.

The folder has three files. `servers.lock` is held by the process that has started the servers,
`owner.json` describes it and its servers, and `users.lock` is held by every command that uses the
servers of another `./dev manage`, which waits for them before it stops the servers.
"""

import os
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tools.dev.environment import read_private, write_private
from tools.dev.locks import try_lock
from tools.dev.trouble import UsageError, say

# Long enough for the remaining processes of a killed launcher to note that they are stopping.
DOUBT_SECONDS = 1.5
# A `run` may take ten seconds to stop, a first start has to migrate.
PATIENCE_SECONDS = 60


@dataclass
class Owner:
    """Description of the holder of `servers.lock`, for other processes."""

    command: str
    pid: int
    address: str = ""
    ready: bool = False
    stopping: bool = False
    environment: dict[str, str] = field(default_factory=dict)

    def write(self, data: Path) -> None:
        write_private(data / "owner.json", asdict(self))


def read_owner(data: Path) -> Owner | None:
    """Return the folder's owner if it is alive: the file outlasts a kill -9."""
    data_read = read_private(data / "owner.json")
    return Owner(**data_read) if data_read and is_alive(data_read["pid"]) else None


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def own(data: Path) -> int:
    """Lock the folder for `./dev run`, after an owner that is stopping; return the lock.

    Raises UsageError if another `run` is up.
    """
    start = time.monotonic()
    has_reported = False
    while (lock := try_lock(data / "servers.lock")) is None:
        owner = read_owner(data)
        waited = time.monotonic() - start
        staying = owner is not None and owner.command == "run" and not owner.stopping
        if waited > (DOUBT_SECONDS if staying else PATIENCE_SECONDS):
            raise UsageError(f"already running: {described(owner)} uses {data}")
        if waited > DOUBT_SECONDS and not has_reported:
            say(f"waiting for {described(owner)} to finish with {data}")
            has_reported = True
        time.sleep(0.1)
    return lock


def described(owner: Owner | None) -> str:
    if owner is None:
        return "another ./dev"
    return " ".join(filter(None, [f"./dev {owner.command} (process {owner.pid})", owner.address]))


def own_or_join(data: Path) -> tuple[int, Owner | None]:
    """Take a lock for `./dev manage`: to start servers, or to use those of another process.

    Returns lock and owner of the servers in use; the owner is None if we have to start them.
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
    """Wait until no other command uses our servers; return the lock that keeps new ones out."""
    has_reported = False
    while (lock := try_lock(data / "users.lock")) is None:
        if not has_reported:
            say("another ./dev manage uses the servers this one has started; waiting for it")
            has_reported = True
        time.sleep(0.1)
    return lock
