"""A service on its own PostgreSQL, which keeps its promises, and its own broker."""

import contextlib
import os
import random
import signal
import ssl
from collections.abc import Iterator
from pathlib import Path

import trustme
from django.conf import settings
from django.core.management import call_command
from django.db import OperationalError, connection
from kombu import Connection

from companies.models import Company
from companies.services import create_company
from devtools.places import Place
from devtools.postgres import Postgres
from devtools.valkey import Valkey
from faults.ports import free_port
from faults.receiver import Receiver
from faults.service import Service


class Rig:
    """Everything a scenario is done to."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.postgres = Postgres(place)
        self.broker = Valkey(place)

    @contextlib.contextmanager
    def up(self) -> Iterator["Rig"]:
        """Start the servers and a receiver with TLS; stop them, whatever happens."""
        authority = trustme.CA()
        authority.cert_pem.write_to_path(self.place.files / "ca.pem")
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        authority.issue_cert("127.0.0.1").configure_cert(context)
        try:
            for server in (self.postgres, self.broker):
                server.start_and_wait()
            call_command("migrate", verbosity=0)
            self.company: Company = create_company("Acme")
            port = {"PORT": str(free_port()), "WORKER_CONCURRENCY": "3"}
            with (
                Receiver(context) as self.receiver,
                Service(port, self.place.files) as self.service,
            ):
                yield self
        finally:
            connection.close()
            self.broker.stop()
            self.postgres.stop()

    def kill_backend(self, dice: random.Random) -> None:
        """kill -9 of a random PostgreSQL backend: the whole server recovers from a crash."""
        with contextlib.suppress(OperationalError), connection.cursor() as cursor:
            cursor.execute("SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'")
            pids = [pid for (pid,) in cursor.fetchall()]
            os.kill(dice.choice(pids), signal.SIGKILL)

    @contextlib.contextmanager
    def database_frozen(self) -> Iterator[None]:
        """SIGSTOP for all of PostgreSQL's processes, for the length of a block."""
        server = int((self.postgres.data / "postmaster.pid").read_text().split()[0])
        os.kill(server, signal.SIGSTOP)
        # Stopped, it starts no others. Each has a process group of its own.
        backends = [
            int(pid) for pid in Path(f"/proc/{server}/task/{server}/children").read_text().split()
        ]
        try:
            for pid in backends:
                os.kill(pid, signal.SIGSTOP)
            yield
        finally:
            for pid in (*backends, server):
                os.kill(pid, signal.SIGCONT)

    def flush_broker(self) -> None:
        with Connection(settings.CELERY_BROKER_URL) as opened:
            opened.default_channel.client.flushall()
