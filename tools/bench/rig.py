"""Rig of a scenario: the service's processes, its database and its broker."""

import subprocess
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.utils import timezone
from kombu import Connection

from core.models import Pulse
from tools.bench import cpu
from tools.bench.progress import say, until
from tools.faults.service import Service


class Rig:
    """The service on its servers; `folder` is for logs and a scenario's files."""

    def __init__(self, environment: Mapping[str, str], folder: Path) -> None:
        self.service = Service(environment, folder)
        self.folder = folder

    def __enter__(self) -> "Rig":
        return self

    def __exit__(self, *_: object) -> None:
        for name in list(self.service.processes):
            self.end(name)

    def start(self, worker_through: Sequence[str] = ()) -> None:
        """Start the worker of the Procfile unless it runs, and wait for its first sweep.

        `worker_through` is a command that becomes the worker (tools.faults.service.Service.start).
        """
        if self.service.processes:
            return
        say("starting worker")
        since = timezone.now()
        self.service.start("worker", through=worker_through)
        until(lambda: self.has_ended() or swept(since), "the worker did not start")
        if ended := self.has_ended():
            raise TimeoutError(f"{ended} ended at its start; its log says why")

    def has_ended(self) -> str:
        """Return the name of a process that has ended by itself, or ""."""
        ended = [name for name, each in self.service.processes.items() if each.poll() is not None]
        return ended[0] if ended else ""

    def stop(self) -> None:
        self.end("worker")

    def end(self, name: str) -> None:
        """Stop a process; on timeout it is killed, and a message says so."""
        try:
            self.service.stop(name)
        except subprocess.TimeoutExpired as error:
            say(f"{name} did not stop within {error.timeout:g} seconds and was killed")

    def meter(self, **others: int) -> cpu.Meter:
        """Meter the CPU time of worker, PostgreSQL and broker, and of `others` by process id."""
        worker = self.service.processes.get("worker")
        roots = {"worker": worker.pid} if worker else {}
        return cpu.Meter({**roots, "postgres": postgres(), "broker": broker(), **others})


def swept(since: datetime) -> bool:
    return Pulse.objects.filter(name="sweep", begun_at__gte=since).exists()


def postgres() -> int:
    """Return the process id of PostgreSQL's postmaster; 0 if not on this machine."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return here(cursor.fetchone()[0])


def here(backend: int) -> int:
    try:
        return cpu.parent(backend)
    except FileNotFoundError:
        return 0


def broker() -> int:
    with Connection(settings.CELERY_BROKER_URL) as opened:
        return int(opened.default_channel.client.info("server")["process_id"])
