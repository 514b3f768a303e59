"""`./dev manage`: a management command, on the servers of whoever runs them or on our own."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TextIO

from tools.dev.bootstrap import PYTHON, ROOT, VENV
from tools.dev.environment import said, service_environment, shared
from tools.dev.owner import Owner, own_or_join, wait_for_users
from tools.dev.places import data_folder, lasting_place
from tools.dev.postgres import Postgres
from tools.dev.processes import tether
from tools.dev.servers import Server
from tools.dev.trouble import UsageError, say
from tools.dev.valkey import Valkey

# In the order they start; they stop in the reverse order.
KINDS = {"DATABASE_URL": Postgres, "BROKER_URL": Valkey}
MANAGE = [str(PYTHON), str(ROOT / "manage.py")]


def manage(arguments: list[str]) -> int:
    """Become the command where its servers are running, else start them for as long as it runs."""
    given = said(dict(os.environ))
    data = data_folder(given)
    if all(name in given for name in KINDS):
        become(arguments, service_environment(given, data, VENV))
    lock, owner = own_or_join(data)
    if owner:
        # The lock that says it uses the servers must stay with the command.
        os.set_inheritable(lock, True)
        become(arguments, service_environment(owner.environment | given, data, VENV))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda told, _: sys.exit(128 + told))
    Owner("manage", os.getpid()).write(data)
    environment = service_environment(given, data, VENV)
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
    """The servers that the environment does not name, named in it from now on."""
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
    """Start the servers, bring a new database up to date, run the command; its exit code."""
    for server in servers:
        server.start_and_wait()
    migrated = data / "migrated"
    if any(isinstance(server, Postgres) for server in servers) and not migrated.exists():
        say("migrating the new database")
        # The command's own output is all that may appear on stdout.
        if run(["migrate", "--noinput", "--verbosity", "0"], environment, stdout=sys.stderr):
            raise UsageError("the new database could not be migrated")
        migrated.touch()
    Owner("manage", os.getpid(), ready=True, environment=shared(environment)).write(data)
    return run(arguments, environment)


def run(arguments: list[str], environment: dict[str, str], stdout: TextIO | None = None) -> int:
    """Run it in our own process group, that of the terminal, and pass on what we are told."""
    command = subprocess.Popen(
        [*MANAGE, *arguments],
        env=environment,
        preexec_fn=tether(signal.SIGTERM),
        stdout=stdout,
    )
    # Ctrl-C reaches the command by itself; it may have something to ask or to clean up.
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGTERM, lambda *_: command.terminate())
    code = command.wait()
    return code if code >= 0 else 128 - code
