"""Runs of a peer, on the same servers and with a worker of the same size."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import connection

from tools.bench.draining import per_1000, rate
from tools.bench.progress import until, until_count
from tools.bench.receiver import Receiver
from tools.bench.rig import Rig
from tools.dev.bootstrap import ROOT
from tools.dev.processes import stop, tether
from tools.dev.trouble import UsageError
from tools.faults.service import PROCFILE


@dataclass(frozen=True)
class Peer:
    """Project under tools.bench.peers, and the Python that has its packages."""

    module: str
    python: Path = Path(sys.executable)
    keeps_connection: bool = False

    @property
    def worker(self) -> str:
        """Command of the Procfile's worker, with this peer's application."""
        command = PROCFILE["worker"].replace("celery", f"{self.python} -m celery", 1)
        return command.replace("-A config", f"-A tools.bench.peers.{self.module}", 1)


@dataclass(frozen=True)
class PeerDrained:
    size: int
    deliveries_per_s: float
    cpu_s_per_1000: dict[str, float]
    lost: int

    def row(self) -> dict[str, object]:
        return vars(self)


def drain(name: str, peer: Peer, rig: Rig, receiver: Receiver, size: int) -> PeerDrained:
    """Put `size` deliveries into the peer's queue, then start its worker.

    Its CPU time counts from the first delivery on, without the start of the worker.
    """
    receiver.clear()
    with database(f"bench_{peer.module}") as database_name:
        variables = environment(peer, database_name)
        manage(peer, variables, "fill", str(size), receiver.url())
        with worker(peer, variables, rig.folder) as process:
            until(lambda: receiver.count() > 0, f"{name} did not start")
            meter = rig.meter(worker=process.pid)
            until_count(receiver.count, size, name)
            used, _ = meter.read()
    arrivals = receiver.arrivals()
    return PeerDrained(
        size=size,
        deliveries_per_s=rate(arrivals),
        cpu_s_per_1000=per_1000(used, size),
        lost=size - len({arrival.key for arrival in arrivals}),
    )


@contextmanager
def database(name: str) -> Iterator[str]:
    """Create a database on the bench's server for the duration of a block."""
    quoted = connection.ops.quote_name(name)
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {quoted}")
    try:
        yield name
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"DROP DATABASE {quoted} WITH (FORCE)")


def environment(peer: Peer, database: str) -> dict[str, str]:
    where = {key: connection.settings_dict[key] for key in ("HOST", "PORT", "USER", "PASSWORD")}
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "DJANGO_SETTINGS_MODULE": f"tools.bench.peers.{peer.module}.settings",
        "BROKER_URL": settings.CELERY_BROKER_URL,
        "PEER_DATABASE": json.dumps({**where, "NAME": database}),
        "PEER_QUEUE": database,
        "PEER_KEEPS_CONNECTION": "yes" if peer.keeps_connection else "",
    }


def manage(peer: Peer, variables: dict[str, str], *command: str) -> None:
    """Run a management command of the peer. Raises UsageError with the last line of its errors."""
    command_line = [peer.python, "-m", "django", *command]
    process = subprocess.run(command_line, env=variables, cwd=ROOT, capture_output=True, text=True)
    if process.returncode:
        raise UsageError(f"{peer.module} {command[0]} failed: {process.stderr.splitlines()[-1:]}")


@contextmanager
def worker(
    peer: Peer, variables: dict[str, str], folder: Path
) -> Iterator[subprocess.Popen[bytes]]:
    with (folder / f"{peer.module}.log").open("ab") as log:
        process = subprocess.Popen(
            ["/bin/sh", "-c", f"exec {peer.worker}"],
            env=variables,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            preexec_fn=tether(signal.SIGKILL),
        )
    try:
        yield process
    finally:
        stop(process, [(signal.SIGTERM, 15)])
