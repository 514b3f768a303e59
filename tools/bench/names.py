"""Host names for receivers, and a command that lets a worker use our name server.

The worker gets a mount namespace of its own with another /etc/resolv.conf, invisible to the rest
of the machine. That needs root, and not every container allows it.
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

# A port that webhooks on public names may have.
PORT = 8443
DOMAIN = "shops-of-the-bench.dev"
BIND = 'mount --bind "$0" /etc/resolv.conf && exec "$@"'


class NameServer:
    """Process of a name server that has one address for all names but the dead ones.

    Raises OSError if it cannot listen; `why_not` tells if a worker can use it.
    """

    def __init__(self, folder: Path) -> None:
        # Simultaneous runs need different addresses.
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
        """Command prefix that starts a program with this name server."""
        return ["unshare", "--mount", "/bin/sh", "-c", BIND, str(self.file)]


def why_not(through: list[str]) -> str | None:
    """Return the reason why this command cannot start programs; None if it can."""
    try:
        attempt = subprocess.run([*through, "true"], capture_output=True, text=True)
    except OSError as error:
        return str(error)
    return (attempt.stderr.strip() or "it is refused") if attempt.returncode else None


@contextmanager
def name_server(wanted: bool, folder: Path, notes: list[str]) -> Iterator[NameServer | None]:
    """Yield a server; None if it is not wanted, or the machine does not allow it (with a note)."""
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
