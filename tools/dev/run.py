"""`./dev run`: the whole service in the foreground, until a signal."""

import os
import shlex
from contextlib import suppress
from typing import NoReturn

from tools.dev.bootstrap import PYTHON, ROOT, VENV
from tools.dev.environment import service_environment, shared, without_empty
from tools.dev.guard import Stop, guarded, ignore_signals
from tools.dev.manage import missing_servers
from tools.dev.output import Output
from tools.dev.owner import Owner, own
from tools.dev.places import data_folder
from tools.dev.ports import choose_port, reachable, why_not
from tools.dev.postgres import Postgres
from tools.dev.servers import Server
from tools.dev.supervisor import Program, Supervisor
from tools.dev.trouble import UsageError, say

DEFAULT_PORT = 8000
DEFAULT_RECEIVER_PORT = 8100


def run(arguments: list[str]) -> int:
    if arguments:
        raise UsageError(
            f"run takes no arguments, and {arguments[0]!r} is one; ./dev help says more"
        )
    return guarded(work)


def work() -> int:
    """Start everything, serve, stop everything; return 0 after a signal, 1 after an error."""
    service = None
    try:
        service = Service(without_empty(dict(os.environ)))
        service.serve()
    except Stop:
        return 0
    except UsageError as trouble:
        say(str(trouble))
        return 1
    finally:
        ignore_signals()
        if service:
            service.stop()


class Service:
    """Run of the service on a data folder."""

    def __init__(self, variables: dict[str, str]) -> None:
        self.data = data_folder(variables)
        self.lock = own(self.data)
        variables.setdefault("BIND", "127.0.0.1")
        self.port = choose_port("PORT", variables.get("PORT"), DEFAULT_PORT, variables["BIND"])
        # The parent, the guard, is the process that users see and signal.
        host = reachable(variables["BIND"])
        self.base = f"http://{host}:{self.port}"
        self.owner = Owner("run", os.getppid(), self.base)
        self.owner.write(self.data)
        self.environment = service_environment(variables, self.data, VENV)
        self.environment["PORT"] = str(self.port)
        # Links in emails lead here.
        self.environment.setdefault("PUBLIC_URL", self.base)
        if "ALLOWED_HOSTS" not in variables:
            self.environment["ALLOWED_HOSTS"] += f",{host}"
        # Suppress Celery's warning about root, which is common on a developer's machine.
        self.environment.setdefault("PYTHONWARNINGS", "ignore:You're running the worker with")
        self.supervisor = Supervisor(Output())
        self.servers: list[Server] = []

    def serve(self) -> NoReturn:
        """Serve until Stop or UsageError is raised."""
        missing = missing_servers(self.environment, self.data)
        if missing:
            say(f"starting {' and '.join(server.name for server in missing)} on {self.data}")
        for server in missing:
            self.servers.append(server)
            self.supervisor.watch(server, server.start_and_wait())
        lines = procfile()
        if self.supervisor.run(self.program("release", lines.pop("release"), once=True)):
            raise UsageError("the database could not be migrated; the lines above say why")
        if any(isinstance(server, Postgres) for server in self.servers):
            (self.data / "migrated").touch()
        self.owner.environment = shared(self.environment)
        self.owner.ready = True
        self.owner.write(self.data)
        receiver = self.receiver_port()
        if receiver:
            command = python("tools.dev.receiver", str(receiver), str(self.data))
            self.supervisor.start(self.program("receiver", command, late=True))
        say(f"starting {', '.join(lines)}; ready in a few seconds")
        for name, command in lines.items():
            self.supervisor.start(self.program(name, command))
        demo = python("tools.dev.demo", self.base, str(receiver), str(self.data))
        self.supervisor.start(self.program("demo", demo, once=True, prefixed=False))
        self.supervisor.forever()

    def program(
        self,
        name: str,
        command: str,
        *,
        prefixed: bool = True,
        once: bool = False,
        late: bool = False,
    ) -> Program:
        return Program(name, command, self.environment, str(ROOT), prefixed, once, late)

    def receiver_port(self) -> int:
        """Return the port in the demo's webhooks; 0 if another program uses it now."""
        note = self.data / "receiver-port"
        if note.exists():
            port = int(note.read_text())
            if not (hindrance := why_not(port)):
                return port
            say(
                f"port {port} {hindrance}, and the demo's webhooks point there: no page shows what"
                " they send, and deliveries wait or go astray, until it is free at a start"
            )
            return 0
        port = choose_port("the receiver's", None, DEFAULT_RECEIVER_PORT)
        note.write_text(f"{port}\n")
        return port

    def stop(self) -> None:
        self.owner.stopping = True
        # Stop the processes even if the data folder is gone.
        with suppress(OSError):
            self.owner.write(self.data)
        self.supervisor.stop()
        for server in reversed(self.servers):
            server.stop()
        (self.data / "owner.json").unlink(missing_ok=True)
        os.close(self.lock)


def procfile() -> dict[str, str]:
    """Return the commands of the Procfile by name."""
    lines = (ROOT / "Procfile").read_text().splitlines()
    pairs = (line.partition(":") for line in lines if line.strip() and not line.startswith("#"))
    return {name.strip(): command.strip() for name, _, command in pairs}


def python(module: str, *arguments: str) -> str:
    return shlex.join([str(PYTHON), "-m", module, *arguments])
