"""Receiver for scenarios: tools/bench/sink.py in a process of its own."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import trustme

from tools.bench.cpu import Meter
from tools.dev.bootstrap import ROOT
from tools.dev.processes import stop, tether
from tools.dev.trouble import UsageError

EVERYWHERE = "0.0.0.0:0"


class Arrival(NamedTuple):
    """Request. Times are on the monotonic clock, which all processes of a machine share."""

    at: float
    path: str
    id: str
    body: str
    answered_at: float | None

    @property
    def answered(self) -> bool:
        return self.answered_at is not None

    @property
    def key(self) -> str:
        """Identity of the request: its id, or its body if the sender gives none."""
        return self.id or self.body


class Receiver:
    """Process of a receiver; `tls` names the hosts it has a certificate for.

    It listens at ADDRESS:PORT; port 0 is any free one. At EVERYWHERE it is on all of 127.0.0.0/8.
    A `brief` one has no `arrivals`, but `hand_over`.
    Raises UsageError when it cannot listen there.
    """

    def __init__(
        self,
        folder: Path,
        tls: list[str] | None = None,
        listen: str = "127.0.0.1:0",
        brief: bool = False,
    ) -> None:
        command = [sys.executable, "-m", "tools.bench.sink", "--listen", listen]
        if tls:
            command += ["--tls", str(certified(folder, tls))]
        if brief:
            command.append("--brief")
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=tether(signal.SIGKILL),
        )
        self.scheme = "https" if tls else "http"
        try:
            self.port = self._hear()
        except ValueError as error:  # it has ended, with the reason on stderr
            self.__exit__()
            raise UsageError(f"no receiver can listen at {listen}") from error
        self.file = folder / f"arrivals-{self.port}.json"
        self.meter = Meter({"receiver": self.process.pid})

    def __enter__(self) -> "Receiver":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stdin.close()
        stop(self.process, [(signal.SIGTERM, 2)])
        self.process.stdout.close()

    def url(self, path: str = "", host: str = "127.0.0.1") -> str:
        """Build a target URL; the path chooses the response (`manners`)."""
        return f"{self.scheme}://{host}:{self.port}/{path}"

    def count(self) -> int:
        """Return the number of requests answered since the last `clear`."""
        return self._say("count")

    def pending(self) -> int:
        """Return the number of requests that wait for an answer."""
        return self._say("held")

    def fall(self) -> None:
        """Stop answering paths below /fall."""
        self._say("fall")

    def arrivals(self) -> list[Arrival]:
        self._say(f"log {self.file}")
        return [Arrival(*row) for row in json.loads(self.file.read_text())]

    def hand_over(self) -> bytes:
        """Return a brief receiver's rows since the last call (tools/bench/stopwatch.py)."""
        self._say(f"hand {self.file}")
        return self.file.read_bytes()

    def clear(self) -> None:
        self._say("clear")
        self.meter.start()

    def share(self) -> float:
        """Return the share of one core used since `clear`: near 1 it would be the bottleneck."""
        used, seconds = self.meter.read()
        return round(used["receiver"] / seconds, 2)

    def _say(self, line: str) -> int:
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        return self._hear()

    def _hear(self) -> int:
        return int(self.process.stdout.readline())


def certified(folder: Path, hosts: list[str]) -> Path:
    """Write a certificate and its key for the hosts into one file, and the CA into `ca.pem`."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(folder / "ca.pem")
    file = folder / "receiver.pem"
    authority.issue_cert(*hosts).private_key_and_cert_chain_pem.write_to_path(file)
    return file
