"""Plays of incidents: the failure, and its repair by the runbook.

A play is a generator: before its `yield` it breaks something, after it it follows the page. It
raises NotMended if the page does not help.
"""

import contextlib
import json
import shutil
import subprocess
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import requests
from django.db import connection
from django.utils import timezone

from companies.models import Company
from companies.services import create_company, issue_token
from companies.tokens import token_prefix
from deliveries.engine.leases import LEASE_SECONDS
from deliveries.models import Heartbeat
from shipments.event_types.status import TRACKING_SIMPLE
from tools.faults import ledger
from tools.faults.feeding import event_numbered, publish_numbered, register_signed
from tools.faults.incidents.following import NotMended, Page
from tools.faults.ports import free_port
from tools.faults.probing import address, answers
from tools.faults.receiver import Receiver
from tools.faults.rig import Rig, link_to
from tools.faults.scenarios import nothing_waits, until
from tools.faults.service import ROOT
from tools.faults.verdict import Figures, NotHere
from webhooks import services
from webhooks.models import Webhook

MENDED_WITHIN_SECONDS = 60.0
DISK_MB = 32
# Time until the probe after a rest, and the retries that its success pulls forward.
LONGEST_REST_SECONDS = 400.0
# More receivers than ParceldeskReceiversDown tolerates.
RECEIVERS = 25


@dataclass
class Scene:
    """Scene of the plays: a running service, and a company whose webhook gets events."""

    rig: Rig
    files: Path
    published: int = 0
    webhook: Webhook = field(init=False)
    _token: str = field(default="", repr=False)

    def begin(self) -> None:
        self.webhook = register_signed(self.rig.company, self.rig.receiver)
        self.tell(10)
        until(nothing_waits, MENDED_WITHIN_SECONDS)

    def tell(self, events: int) -> None:
        """Publish a number of events."""
        publish_numbered(self.rig.company, range(self.published, self.published + events))
        self.published += events

    def all_arrived(self) -> bool:
        return nothing_waits()

    def summary(self) -> Figures:
        """Summarize the ledger of our company's webhook so far."""
        path = urlsplit(self.webhook.url).path
        log = [each for each in list(self.rig.receiver.log) if each.path == path]
        expected = [event_numbered(number) for number in range(self.published)]
        return ledger.summary(log, expected, self.webhook.secret)

    @property
    def token(self) -> str:
        self._token = self._token or issue_token(self.rig.company.pk)
        return self._token

    def ask(self, path: str, token: str = "") -> int:
        """Send a GET as a company; return the status."""
        answer = requests.get(
            address(self.rig.service, path),
            headers={"Authorization": f"Bearer {token or self.token}"},
            timeout=60,
        )
        return answer.status_code

    def open_ticket(self, token: str = "") -> requests.Response:
        """Open a ticket as a company; return the response."""
        return requests.post(
            address(self.rig.service, "/company/tickets"),
            json={"type_id": 2, "comments": "Please switch the carrier on."},
            headers={"Authorization": f"Bearer {token or self.token}"},
            timeout=60,
        )

    def restart(self, *kinds: str) -> None:
        self.rig.service.stop(*kinds)
        for kind in kinds:
            self.rig.service.start(kind)
        if "web" in kinds:
            until(self.web_answers, MENDED_WITHIN_SECONDS)

    def web_answers(self) -> bool:
        return answers(self.rig.service, "/healthz")

    def is_ready(self) -> bool:
        return answers(self.rig.service, "/readyz")


def expect(holds: object, words: object = "it is not as the page says") -> None:
    if not holds:
        raise NotMended(str(words))


def receiver_down(scene: Scene, page: Page) -> Iterator[None]:
    """Let many hosts refuse every connection, as in an outage of a provider of shops."""
    company = create_company("Birch")
    port = free_port()
    for number in range(1, RECEIVERS + 1):
        url = f"http://127.0.1.{number}:{port}/birch"
        services.register_webhook(company, type_id=3, url=url)
    publish_numbered(company, range(4))
    yield
    output = page.manage("queue", "--by", "host")
    expect("127.0.1." in output, output)
    page.note("told the company; its provider came back")
    with Receiver(listen=("0.0.0.0", port)):  # noqa: S104 - all of loopback
        until(scene.all_arrived, LONGEST_REST_SECONDS)


def host_held_by_mistake(scene: Scene, page: Page) -> Iterator[None]:
    """Hold the wrong host, unnoticed for a day."""
    scene.rig.service.manage("hold_host", "127.0.0.1", "--reason", "the wrong one")
    # Loops learn of the hold as they renew their leases.
    renewed_at = timezone.now() + timedelta(seconds=LEASE_SECONDS)
    until(lambda: not Heartbeat.objects.filter(lease_until__lt=renewed_at).exists(), 30)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE deliveries_heldhost SET held_at = held_at - interval '25 hours'")
    scene.tell(20)
    yield
    expect("127.0.0.1" in page.manage("hold_host", "--list"))
    expect("hold_host" in page.manage("audit", "--act", "hold_host"))
    expect(not nothing_waits())
    page.manage("release_host", "127.0.0.1")
    until(scene.all_arrived, MENDED_WITHIN_SECONDS)


def disk_nearly_full(scene: Scene, page: Page) -> Iterator[None]:
    """Fill the disk with the files of tickets to 95 %."""
    ballast = scene.files / "somebody.s.log"
    free = shutil.disk_usage(scene.files).free
    ballast.write_bytes(bytes(int(free * 0.95)))
    yield
    page.note("df -h: another program's log takes the room; removed")
    ballast.unlink()
    page.note("doctor")
    expect('"name": "disk"' in scene.rig.service.manage("doctor", "--json"))


def slow_database(scene: Scene, page: Page) -> Iterator[None]:
    """Leave a transaction open that holds a lock which every delivery needs."""
    link = link_to(scene.rig.postgres, autocommit=False)
    try:
        link.execute("LOCK TABLE deliveries_attempt IN EXCLUSIVE MODE")
        scene.tell(20)
        yield
        look = next(line for line in page.commands if "pg_blocking_pids(pid)) > 0" in line)
        statement = look.partition('-c "')[2].rstrip('"')
        with link_to(scene.rig.postgres) as other:
            behind = [pids for _, pids, _ in other.execute(statement).fetchall()]
            expect([link.info.backend_pid] in behind, behind)
            page.note(f"psql: {len(behind)} wait behind one transaction; pg_terminate_backend")
            other.execute("SELECT pg_terminate_backend(%s)", [link.info.backend_pid])
    finally:
        link.close()
    until(scene.all_arrived, MENDED_WITHIN_SECONDS)


def broker_gone(scene: Scene, page: Page) -> Iterator[None]:
    """Stop the broker. Deliveries continue meanwhile."""
    scene.rig.broker.stop()
    scene.tell(20)
    until(scene.all_arrived, MENDED_WITHIN_SECONDS)
    yield
    output = page.manage("doctor", "--only", "broker", "cache", fails=True)
    expect("fail" in output, output)
    page.note("started the broker")
    scene.rig.broker.start_and_wait()
    page.manage("doctor", "--only", "broker", "cache")


def leaked_token(scene: Scene, page: Page) -> Iterator[None]:
    """Leak a company's token to a stranger."""
    leaked = issue_token(scene.rig.company.pk)
    expect(scene.ask("/company/tickets", leaked) == 200)
    yield
    company = str(scene.rig.company.pk)
    expect(token_prefix(leaked) in page.manage("list_tokens", "--company", company))
    page.manage("revoke_token", token_prefix(leaked))
    fresh = page.manage("issue_token", company).strip()
    expect(scene.ask("/company/tickets", leaked) == 401, "it still opens")
    expect(scene.ask("/company/tickets", fresh) == 200)
    expect("revoke_token" in page.manage("audit", "--company", company))


def erasure_asked_for(scene: Scene, page: Page) -> Iterator[None]:
    """Let a company request its data, and then its erasure."""
    company = create_company("Cedar", contact_email="somebody@cedar.example")
    services.register_webhook(
        company, type_id=TRACKING_SIMPLE.id, url=f"{scene.rig.receiver.url}/cedar"
    )
    publish_numbered(company, range(50))
    until(nothing_waits, MENDED_WITHIN_SECONDS)
    yield
    number = str(company.pk)
    exported = scene.rig.place.files / "cedar.zip"
    page.manage("export_company", number, "--to", str(exported))
    with zipfile.ZipFile(exported) as archive:
        expect(archive.read("deliveries.jsonl").count(b"\n") == 50, "deliveries are missing")
    expect("would blank 50 deliveries" in page.manage("erase_company", number, "--dry-run"))
    page.manage("erase_company", number, "--confirm", "Cedar")
    erased = Company.objects.get(pk=company.pk)
    expect("Cedar" not in erased.name and not erased.contact_email, erased.name)
    expect(number in page.manage("erase_company", "--list"))
    expect("erase_company" in page.manage("audit", "--company", number))


def wrong_field_keys(scene: Scene, page: Page) -> Iterator[None]:
    """Set up a host with a fresh key, not the one that all data is encrypted with."""
    service = scene.rig.service
    right = service.environment["FIELD_KEYS"]
    service.environment["FIELD_KEYS"] = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
    scene.restart("web", "worker")
    scene.tell(20)
    yield
    expect("fail" in page.manage("doctor", "--only", "secrets", fails=True))
    page.manage("reencrypt", "--dry-run")
    page.note("put the missing key back behind the other, restarted web and worker")
    service.environment["FIELD_KEYS"] += f",{right}"
    scene.restart("web", "worker")
    until(scene.all_arrived, MENDED_WITHIN_SECONDS + 30)
    service.environment["FIELD_KEYS"] = right
    scene.restart("web", "worker")


def nobody_for_three_weeks(scene: Scene, page: Page) -> Iterator[None]:
    """Let the future partitions run out, as if no worker had run for weeks."""
    scene.rig.service.stop("worker")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT child.relname FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid"
            " WHERE inhparent = 'deliveries_event'::regclass AND child.relname ~ '_[0-9]{8}$'"
            " ORDER BY 1 DESC LIMIT 8"
        )
        for (name,) in cursor.fetchall():
            cursor.execute(f'DROP TABLE "{name}"')
        cursor.execute("UPDATE core_pulse SET begun_at = begun_at - interval '21 days'")
    scene.tell(20)
    yield
    page.manage("doctor", "--only", "scheduler", "broker", "jobs", "partitions", fails=True)
    page.note("started the worker")
    scene.rig.service.start("worker")
    until(scene.all_arrived, MENDED_WITHIN_SECONDS)
    until(lambda: well(scene, "scheduler", "partitions"), MENDED_WITHIN_SECONDS)


def keep_opening(scene: Scene, over: threading.Event) -> None:
    """Open tickets, as companies do, regardless of the answers."""
    while not over.wait(0.1):
        with contextlib.suppress(requests.RequestException):
            scene.open_ticket()


def bad_release(scene: Scene, page: Page) -> Iterator[None]:
    """Deploy a version that fails whenever a ticket is opened."""
    service = scene.rig.service
    tree = scene.rig.place.files / "release"
    ignored = shutil.ignore_patterns(".git", ".venv", ".dev", "tests", "docs", "__pycache__")
    shutil.copytree(ROOT, tree, ignore=ignored)
    shutil.copytree(ROOT / "docs", tree / "docs")
    view = tree / "tickets" / "api" / "views.py"
    view.write_text(view.read_text().replace("opening.open_ticket(", "opening.open_tickets("))
    good, service.tree = service.tree, tree
    scene.restart("web")
    over = threading.Event()
    asking = threading.Thread(target=keep_opening, args=(scene, over), daemon=True)
    asking.start()
    yield
    page.note("git checkout of the version before; restarted web")
    service.tree = good
    scene.restart("web")
    expect(scene.ask("/company/tickets") == 200)
    over.set()
    asking.join()


def well(scene: Scene, *checks: str) -> bool:
    """Return True if doctor grades all these checks as ok."""
    with contextlib.suppress(subprocess.CalledProcessError):
        report = json.loads(scene.rig.service.manage("doctor", "--json", "--only", *checks))
        return all(each["grade"] == "ok" for each in report["checks"])
    return False


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """Mount a disk of DISK_MB for the files of tickets. Raises NotHere if that is impossible."""
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", folder],
        capture_output=True,
        text=True,
    )
    if mounted.returncode:
        raise NotHere(f"a disk cannot be mounted here: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=False)
