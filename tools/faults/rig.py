"""Service on its own PostgreSQL, with durable settings, and its own broker."""

import contextlib
import os
import random
import signal
import ssl
from collections.abc import Iterator
from pathlib import Path

import psycopg
import trustme
from celery import current_app
from django.conf import settings
from django.core.management import call_command
from django.db import OperationalError, connection
from kombu import Connection

from companies.models import Company
from companies.services import create_company
from tools.dev.places import Place
from tools.dev.postgres import DATABASE, SUPERUSER, Postgres
from tools.dev.valkey import Valkey
from tools.faults.ports import free_port
from tools.faults.processes import children_of
from tools.faults.rabbitmq import SERVER, RabbitMQ
from tools.faults.receiver import Receiver
from tools.faults.service import Service
from tools.faults.verdict import NotHere

WAL_FILES = 64  # 16 MiB each, a gigabyte in all.


def link_to(
    server: Postgres, database: str = DATABASE, *, autocommit: bool = True
) -> "psycopg.Connection[tuple[object, ...]]":
    """Connect to a server without Django."""
    return psycopg.connect(
        host=str(server.place.sockets), user=SUPERUSER, dbname=database, autocommit=autocommit
    )


class Rig:
    """Service, servers and receiver of a scenario."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.postgres = Postgres(place)
        self.broker = Valkey(place)

    @contextlib.contextmanager
    def up(self) -> Iterator["Rig"]:
        """Start the servers and a receiver with TLS, and stop them in any case."""
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
        """Kill a random PostgreSQL backend by kill -9, which makes the whole server recover."""
        with contextlib.suppress(OperationalError), connection.cursor() as cursor:
            cursor.execute("SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'")
            pids = [pid for (pid,) in cursor.fetchall()]
            os.kill(dice.choice(pids), signal.SIGKILL)

    @contextlib.contextmanager
    def database_frozen(self) -> Iterator[None]:
        """Freeze all of PostgreSQL's processes for the duration of a block."""
        # Stop the postmaster first, as it starts the others, each in its own process group.
        os.kill(self.database_server(), signal.SIGSTOP)
        processes = self.database_processes()
        try:
            for pid in processes:
                os.kill(pid, signal.SIGSTOP)
            yield
        finally:
            for pid in reversed(processes):
                os.kill(pid, signal.SIGCONT)

    def database_server(self) -> int:
        return int((self.postgres.data / "postmaster.pid").read_text().split()[0])

    def kill_database(self) -> None:
        """Kill all of PostgreSQL's processes with SIGKILL."""
        for pid in self.database_processes():
            # The others end by themselves once the first is gone.
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def database_processes(self) -> list[int]:
        """Return PostgreSQL's postmaster and its children."""
        server = self.database_server()
        return [server, *children_of(server)]

    @contextlib.contextmanager
    def database_read_only(self) -> Iterator[None]:
        """Make PostgreSQL refuse writes for the duration of a block, like a demoted primary."""
        self._say_to_server("ALTER SYSTEM SET default_transaction_read_only = on")
        try:
            yield
        finally:
            self._say_to_server("ALTER SYSTEM RESET default_transaction_read_only")

    def _say_to_server(self, statement: str) -> None:
        with link_to(self.postgres) as link:
            # This statement must work on a read-only server too.
            link.execute("SET default_transaction_read_only = off")
            link.execute(statement)
            link.execute("SELECT pg_reload_conf()")

    @contextlib.contextmanager
    def no_connections_left(self) -> Iterator[None]:
        """Terminate all connections and occupy them for the duration of a block."""
        connections: list[psycopg.Connection[object]] = []
        try:
            for _ in range(3):
                # Repeat it for processes that have reconnected in between.
                with contextlib.suppress(psycopg.OperationalError):
                    self._terminate_others(connections)
                with contextlib.suppress(psycopg.OperationalError):
                    while True:
                        connections.append(link_to(self.postgres))
            yield
        finally:
            for link in connections:
                link.close()

    def _terminate_others(self, ours: list["psycopg.Connection[object]"]) -> None:
        link = ours[0] if ours else link_to(self.postgres)
        link.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE backend_type = 'client backend' AND pid <> ALL(%s)",
            [[each.info.backend_pid for each in [link, *ours]]],
        )

    def make_wal_files(self) -> None:
        """Make PostgreSQL create WAL files for reuse, as advised in docs/operations/deploying.md.

        A new server has none. It fills each new one while all commits wait, up to 90 ms, which
        would distort the measurement.
        """
        self._say_to_server("ALTER SYSTEM SET min_wal_size = '1GB'")
        with link_to(self.postgres) as link:
            for _ in range(WAL_FILES):
                link.execute("SELECT pg_logical_emit_message(false, '', repeat('.', 16777216))")
            link.execute("CHECKPOINT")

    @contextlib.contextmanager
    def on_rabbitmq(self) -> Iterator[RabbitMQ]:
        """Use RabbitMQ for doorbells for the duration of a block, not as cache. Raises NotHere."""
        if not Path(SERVER).exists():
            raise NotHere(f"there is no {SERVER}")
        rabbit = RabbitMQ(self.place)
        try:
            rabbit.start_and_wait()
            self.service.environment["BROKER_URL"] = current_app.conf.broker_url = rabbit.url
            yield rabbit
        finally:
            rabbit.stop()

    def flush_broker(self) -> None:
        with Connection(settings.CELERY_BROKER_URL) as opened:
            opened.default_channel.client.flushall()
