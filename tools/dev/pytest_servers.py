"""Pytest plugin: throwaway PostgreSQL and Valkey for the duration of a run.

They start on import, because pytest-django reads the settings before any hook of ours; never in
the processes of pytest-xdist, which use the servers of the main process.
"""

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from tools.dev.locks import exclusively, try_lock
from tools.dev.places import Place, throwaway_place
from tools.dev.postgres import Postgres
from tools.dev.servers import Server
from tools.dev.valkey import Valkey

PREFIX = f"parceldesk-test-{os.getuid()}-"
# Variable with the servers' folder, for the processes of a parallel run.
FOLDER = "THROWAWAY_SERVERS"


def throwaway_postgres(place: Place) -> Server:
    return Postgres(place, throwaway=True)


KINDS: dict[str, Callable[[Place], Server]] = {
    "DATABASE_URL": throwaway_postgres,
    "BROKER_URL": Valkey,
}


def start() -> None:
    """Start servers that the environment does not name, and add their URLs to it."""
    missing = [name for name in KINDS if not os.environ.get(name)]
    if not missing:
        return
    temporary = Path(tempfile.gettempdir())
    with exclusively(temporary / f"{PREFIX}lock", waiting="another ./dev test is starting"):
        remove_leftovers(temporary)
        place = throwaway_place(PREFIX)
        lock = try_lock(place.files / "lock")
    if "DATABASE_URL" in missing:
        os.environ[FOLDER] = str(place.files)
    servers: list[Server] = []
    atexit.register(finish, servers, place.files, lock)
    for name in missing:
        server = KINDS[name](place)
        servers.append(server)
        server.start_and_wait()
        os.environ[name] = server.url


def remove_leftovers(temporary: Path) -> None:
    """Remove folders of dead runs; a live run holds the lock in its folder."""
    for folder in temporary.glob(f"{PREFIX}*/"):
        if folder.is_symlink() or folder.stat().st_uid != os.getuid():
            continue
        lock = try_lock(folder / "lock")
        if lock is not None:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)


def finish(servers: list[Server], folder: Path, lock: int | None) -> None:
    for server in reversed(servers):
        server.stop()
    shutil.rmtree(folder, ignore_errors=True)
    if lock is not None:
        os.close(lock)


if "PYTEST_XDIST_WORKER" not in os.environ:
    start()
