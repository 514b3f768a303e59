"""Host names for receivers, and a worker that asks our name server for them.

The worker gets a mount namespace of its own with another /etc/resolv.conf; nothing else on the
machine sees that. Only root may do so, and not in every container.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.dev.bootstrap import ROOT
from tools.dev.processes import stop, tether

# One of those that a webhook on a public name may have.
PORT = 8443
DOMAIN = "shops-of-the-bench.dev"
BIND = 'mount --bind "$0" /etc/resolv.conf && exec "$@"'


class NameServer:
    """`with NameServer(folder) as names:`; all its names but the dead ones have one address.

    Raises OSError where it cannot be: `why_not` says whether a worker can use it.
    """

    def __init__(self, folder: Path) -> None:
        # Ours among those of other runs at the same time.
        number = 1 + os.getpid() % 250
        self.listen, self.address = f"127.53.0.{number}", f"127.53.1.{number}"
        self.file = folder / "resolv.conf"
        self.file.write_text(f"nameserver {self.listen}\n")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tools.bench.name_server", self.listen, self.address],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=tether(signal.SIGKILL),
        )
        if self.process.stdout.readline() != "ready\n":
            self.__exit__()
            raise OSError(f"no name server can listen at {self.listen}:53")

    def __enter__(self) -> "NameServer":
        return self

    def __exit__(self, *_: object) -> None:
        stop(self.process, [(signal.SIGTERM, 2)])
        self.process.stdout.close()

    @property
    def through(self) -> list[str]:
        """The command by which a program is started that asks this name server."""
        return ["unshare", "--mount", "/bin/sh", "-c", BIND, str(self.file)]


def why_not(through: list[str]) -> str | None:
    """Why no program can be started by this command; None when it can."""
    try:
        tried = subprocess.run([*through, "true"], capture_output=True, text=True)
    except OSError as error:
        return str(error)
    return (tried.stderr.strip() or "it is refused") if tried.returncode else None


@contextmanager
def name_server(wanted: bool, folder: Path, notes: list[str]) -> Iterator[NameServer | None]:
    """Yield a server; None where it is not wanted, or, with a note, not allowed by the machine."""
    if not wanted:
        yield None
        return
    try:
        server = NameServer(folder)
    except OSError as error:
        notes.append(f"Dead names are left out, also of all at once: {error}")
        yield None
        return
    with server:
        if reason := why_not(server.through):
            notes.append(f"Dead names are left out, also of all at once: {reason}")
        yield None if reason else server


def living(number: int) -> str:
    return f"shop{number}.{DOMAIN}"


def dead(number: int) -> str:
    return f"dead{number}.{DOMAIN}"
