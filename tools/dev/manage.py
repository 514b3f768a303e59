"""`./dev manage`: a management command, on running servers or on private ones."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TextIO

from tools.dev.bootstrap import PYTHON, ROOT, VENV
from tools.dev.environment import service_environment, shared, without_empty
from tools.dev.owner import Owner, own_or_join, wait_for_users
from tools.dev.places import data_folder, lasting_place
from tools.dev.postgres import Postgres
from tools.dev.processes import tether
from tools.dev.servers import Server
from tools.dev.trouble import UsageError, say
from tools.dev.valkey import Valkey

# In start order; they stop in reverse order.
KINDS = {"DATABASE_URL": Postgres, "BROKER_URL": Valkey}
MANAGE = [str(PYTHON), str(ROOT / "manage.py")]


def manage(arguments: list[str]) -> int:
    """Become the command if its servers are running, else start them for its duration."""
    variables = without_empty(dict(os.environ))
    data = data_folder(variables)
    if all(name in variables for name in KINDS):
        become(arguments, service_environment(variables, data, VENV))
    lock, owner = own_or_join(data)
    if owner:
        # The command must keep the lock that marks the servers as in use.
        os.set_inheritable(lock, True)
        become(arguments, service_environment(owner.environment | variables, data, VENV))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _: sys.exit(128 + received))
    Owner("manage", os.getpid()).write(data)
    environment = service_environment(variables, data, VENV)
    servers = missing_servers(environment, data)
    try:
        return run_on(servers, arguments, environment, data)
    finally:
        users = wait_for_users(data)
        for server in reversed(servers):
            server.stop()
        (data / "owner.json").unlink()
        os.close(lock)
        os.close(users)


def become(arguments: list[str], environment: dict[str, str]) -> None:
    os.execve(PYTHON, [*MANAGE, *arguments], environment)  # noqa: S606


def missing_servers(environment: dict[str, str], data: Path) -> list[Server]:
    """Return servers that the environment does not name, and add their URLs to it."""
    missing = [name for name in KINDS if name not in environment]
    if not missing:
        return []
    place = lasting_place(data)
    servers = {name: KINDS[name](place) for name in missing}
    environment |= {name: server.url for name, server in servers.items()}
    return list(servers.values())


def run_on(
    servers: list[Server], arguments: list[str], environment: dict[str, str], data: Path
) -> int:
    """Start the servers, migrate a new database, run the command; return its exit code."""
    for server in servers:
        server.start_and_wait()
    migrated = data / "migrated"
    if any(isinstance(server, Postgres) for server in servers) and not migrated.exists():
        say("migrating the new database")
        # stdout is reserved for the command's own output.
        if run(["migrate", "--noinput", "--verbosity", "0"], environment, stdout=sys.stderr):
            raise UsageError("the new database could not be migrated")
        migrated.touch()
    Owner("manage", os.getpid(), ready=True, environment=shared(environment)).write(data)
    return run(arguments, environment)


def run(arguments: list[str], environment: dict[str, str], stdout: TextIO | None = None) -> int:
    """Run a command in our process group, that of the terminal, and forward signals to it."""
    command = subprocess.Popen(
        [*MANAGE, *arguments],
        env=environment,
        preexec_fn=tether(signal.SIGTERM),
        stdout=stdout,
    )
    # Ctrl-C reaches the command directly; wait for it, as it may ask or clean up.
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGTERM, lambda *_: command.terminate())
    code = command.wait()
    return code if code >= 0 else 128 - code
