"""The service behind PgBouncer in transaction mode, with the file that docs/operating.md gives."""

import itertools
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
import requests
from django.db import connection

from companies.models import Company
from companies.services import issue_token
from shipments.event_types.status import TRACKING_SIMPLE
from tests.programs import program
from tools.dev.processes import stop
from tools.faults import ledger, probing, scenarios
from tools.faults.feeding import Feed
from tools.faults.ports import free_port
from tools.faults.receiver import Receiver
from tools.faults.service import Service
from webhooks import services

DOCS = Path(__file__).resolve().parents[2] / "docs" / "operating.md"
# Fewer than the threads that query: each transaction may get another connection than the last.
CONNECTIONS = 2
THREADS = 8


@pytest.fixture
def bouncer(tmp_path: Path) -> Iterator[str]:
    """Yield the address of a PgBouncer in front of the test's database."""
    pgbouncer = program("pgbouncer")
    database = connection.settings_dict
    port = free_port()
    match = re.search(r"```ini\n(.*?)```", DOCS.read_text(), re.DOTALL)
    assert match is not None
    text = match[1]
    for setting, here in {
        r"^parceldesk = .*$": (
            f"{database['NAME']} = host={database['HOST']} user={database['USER']}"
            f" pool_size={CONNECTIONS}"
        ),
        r"^listen_port = .*$": f"listen_port = {port}",
        r"^auth_.*$": "auth_type = any",
        # Each transaction uses another connection than the previous one.
        r"^pool_mode = transaction$": "pool_mode = transaction\nserver_round_robin = 1",
        r"^(logfile|pidfile|unix_socket_dir) = .*$": r"\1 =",
    }.items():
        text, count = re.subn(setting, here, text, flags=re.MULTILINE)
        assert count, setting
    # PgBouncer refuses to run as root. The socket's owner may use it, and must read the file.
    folder = Path(tempfile.mkdtemp(prefix="parceldesk-bouncer-"))
    folder.chmod(0o755)
    file = folder / "pgbouncer.ini"
    file.write_text(text)
    owner = Path(database["HOST"]).stat().st_uid
    with (tmp_path / "pgbouncer.log").open("wb") as log:
        process = subprocess.Popen(
            [pgbouncer, file],
            stdout=log,
            stderr=log,
            user=owner if os.getuid() == 0 else None,
            start_new_session=True,
        )
    yield f"postgres://{database['USER']}@127.0.0.1:{port}/{database['NAME']}"
    stop(process, [(signal.SIGTERM, 2.0)])
    shutil.rmtree(folder)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_everything_works_behind_pgbouncer(
    service: Service, acme: Company, receiver: Receiver, bouncer: str
) -> None:
    service.environment["ENGINE_DATABASE_URL"] = service.environment["DATABASE_URL"]
    service.environment["DATABASE_URL"] = bouncer
    services.register_webhook(acme, type_id=TRACKING_SIMPLE.id, url=f"{receiver.url}/3")
    feed = Feed(acme.pk, shipments=50, updates=3000)
    for kind in ("web", "worker"):
        service.start(kind)
    scenarios.until(lambda: probing.answers(service, "/readyz"), 60)
    token = issue_token(acme.pk)

    number = itertools.count(1000)
    statuses = []

    def open_tickets(fed: Future[str]) -> None:
        while not fed.done():
            answer = requests.post(
                probing.address(service, "/company/tickets"),
                json={"type_id": 4, "shipment_id": next(number), "comments": "Where is it?"},
                headers={"Authorization": f"Bearer {token}"},
                timeout=60,
            )
            statuses.append(answer.status_code)

    with ThreadPoolExecutor(THREADS + 1) as pool:
        # Each batch of lines is a transaction, on whatever connection is free.
        fed = pool.submit(service.manage, "ingest", "-", stdin=feed.text())
        list(pool.map(open_tickets, [fed] * THREADS))
    assert fed.result()
    scenarios.until(scenarios.settled(receiver, feed.updates), 60)

    assert set(statuses) == {200}
    summary = ledger.summary(receiver.log, feed.events())
    assert (summary["lost"], summary["repeats"], summary["out_of_order"]) == (0, 0, 0)
