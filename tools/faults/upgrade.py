"""An older version works while the database is migrated, beside the new one, and after it again."""

import argparse
import io
import json
import subprocess
import tarfile
import threading
import time
from pathlib import Path
from typing import Any

import requests
from django.db import connection

from shipments.event_types.status import TRACKING_SIMPLE
from tools.dev.postgres import SUPERUSER, Postgres
from tools.faults import ledger
from tools.faults.asking import address, answers
from tools.faults.feeding import Feed
from tools.faults.ports import free_port
from tools.faults.rig import Rig, link_to
from tools.faults.scenarios import nothing_waits, until
from tools.faults.service import ROOT, Service, procfile
from tools.faults.tickets import NONE_OF, Opening
from tools.faults.verdict import NotHere, Verdict, broken

DATABASE = "before"
LOCKED_AT_MOST_SECONDS = 0.1
# Who waits for a table, for how long, for which, and because of what; the migration may wait.
WAITING = """
SELECT extract(epoch FROM clock_timestamp() - waitstart), relation::regclass::text,
  (SELECT string_agg(left(query, 200), '; ') FROM pg_stat_activity AS holder
   WHERE holder.pid = ANY (pg_blocking_pids(pg_locks.pid)))
FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE NOT granted AND locktype = 'relation' AND datname = current_database()
  AND waitstart IS NOT NULL AND application_name <> 'migrate'
ORDER BY waitstart LIMIT 1
"""
PARTS = 12


class LockWatch:
    """`with LockWatch(rig.postgres) as watch:` notes how long anybody waited for a table."""

    def __init__(self, server: Postgres) -> None:
        self.server = server
        self.longest = 0.0
        self.table = self.held_by = ""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> "LockWatch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        with link_to(self.server, DATABASE) as link:
            while not self._over.wait(0.01):
                for seconds, table, held_by in link.execute(WAITING).fetchall():
                    if float(seconds) > self.longest:
                        self.longest = float(seconds)
                        self.table, self.held_by = str(table), str(held_by)


class Feeding:
    """The parts of a feed, each by the `ingest` of whichever version is the current one."""

    def __init__(self, feed: Feed, by: Service) -> None:
        self.by = by
        self.feed = feed
        self.error: Exception | None = None
        self.taken = 0
        self._thread = threading.Thread(target=self._feed, daemon=True)
        self._thread.start()

    def _feed(self) -> None:
        try:
            for part in self.feed.parts(PARTS):
                self.by.manage("ingest", "-", given=part)
                self.taken += 1
        except Exception as error:  # to be raised where it is seen
            self.error = error

    def wait_for(self, parts: int) -> None:
        until(lambda: self.taken >= min(parts, PARTS) or self.error is not None)
        if self.error:
            raise self.error


def upgrade(rig: Rig, given: argparse.Namespace) -> Verdict:
    """Migrate, start the new version, stop the old one, all under load; and all the way back."""
    tree = unpack(given.commit or last_version(), rig.place.files / "before")
    url = f"postgres://{SUPERUSER}@/{rig.place.sockets}/{DATABASE}"
    with link_to(rig.postgres) as link:
        link.execute(f"CREATE DATABASE {DATABASE}")
    values = {**rig.service.environment, "DATABASE_URL": url}
    old = Service(values | {"PORT": str(free_port())}, rig.place.files, tree)
    new = Service(values | {"PORT": str(free_port())}, rig.place.files)
    use_database(DATABASE)
    with old, new:
        company, token, webhook = begin(old, rig)
        multiply(rig.postgres, given.rows)
        feed = Feed(company, given.shipments, given.updates)
        feeding = Feeding(feed, old)
        with Opening(old, token=token) as opening, LockWatch(rig.postgres) as watch:
            feeding.wait_for(2)
            new.environment["PGAPPNAME"] = "migrate"
            new.manage("migrate", "--verbosity", "0")
            del new.environment["PGAPPNAME"]
            locked, table, held_by = watch.longest, watch.table, watch.held_by
            feeding.wait_for(feeding.taken + 1)
            change_over(old, new, opening, feeding)
            feeding.wait_for(feeding.taken + 2)
            change_over(new, old, opening, feeding)
            feeding.wait_for(PARTS)
        until(nothing_waits)
        found: dict[str, Any] = {
            **ledger.summary(rig.receiver.log, feed.events(), webhook["secret"]),
            **opening.summary(),
            "longest_wait_for_a_table_seconds": round(locked, 3),
            "waited_for": table,
            "held_by": held_by,
            "commit": given.commit or last_version(),
        }
    troubles = broken(
        found,
        at_most={
            **NONE_OF,
            "repeats": 0,
            "tickets_asked_for_again": 0,
            "tickets_unanswered": 0,
            "longest_wait_for_a_table_seconds": LOCKED_AT_MOST_SECONDS,
        },
        at_least={"tickets_answered": 1},
    )
    if found["ticket_errors"]:
        troubles.append(f"tickets were answered with {found['ticket_errors']}")
    return found, troubles


def last_version() -> str:
    """The newest tag, or this commit where there is none."""
    asked = ["git", "describe", "--tags", "--abbrev=0"]
    found = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True)
    return found.stdout.strip() if found.returncode == 0 else "HEAD"


def unpack(commit: str, folder: Path) -> Path:
    """Put the files of a commit there. Raises NotHere."""
    try:
        packed = subprocess.run(
            ["git", "archive", commit], cwd=ROOT, capture_output=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        raise NotHere(f"commit {commit[:7]} is not there: no git, or a shallow clone") from None
    with tarfile.open(fileobj=io.BytesIO(packed)) as files:
        files.extractall(folder, filter="data")
    return folder


def use_database(name: str) -> None:
    connection.close()
    connection.settings_dict["NAME"] = name


def begin(old: Service, rig: Rig) -> tuple[int, str, dict[str, Any]]:
    """The old version with a company, its token and its webhook, at work."""
    old.manage("migrate", "--verbosity", "0")
    company = json.loads(old.manage("create_company", "Acme"))["company_id"]
    token = old.manage("issue_token", str(company)).split()[-1]
    for kind in kinds_of(old):
        old.start(kind, f"{kind}-old")
    until(lambda: answers(old, "/healthz"))
    answer = requests.post(
        address(old, "/webhooks"),
        json={"type_id": TRACKING_SIMPLE.id, "url": f"{rig.receiver.url}/3"},
        headers={"Authorization": f"Bearer {token}"},
        timeout=30,
    )
    answer.raise_for_status()
    return company, token, answer.json()["data"]


def kinds_of(version: Service) -> list[str]:
    """Return what this version has processes of: another may have other ones."""
    return [kind for kind in procfile(version.tree) if kind != "release"]


def change_over(was: Service, comes: Service, opening: Opening, feeding: Feeding) -> None:
    """The one version beside the other, then alone: as a proxy in front of both would see it."""
    for kind in kinds_of(comes):
        comes.start(kind, f"{kind}-next")
    until(lambda: answers(comes, "/healthz"))
    opening.url = address(comes, "/company/tickets")
    feeding.by = comes
    time.sleep(1)
    was.stop(*was.processes)


def multiply(server: Postgres, rows: int) -> None:
    """So many tickets that were decided a year ago."""
    with link_to(server, DATABASE) as link:
        link.execute(
            "INSERT INTO tickets_ticket"
            " (company_id, type_id, status, comments, version, created_at, updated_at,"
            " carrier_name, clock_digest)"
            " SELECT (SELECT min(id) FROM companies_company), 2, 2, 'old', 1,"
            " now() - interval '1 year', now() - interval '1 year', '', 0"
            " FROM generate_series(1, %s)",
            [rows],
        )
        link.execute("ANALYZE")
