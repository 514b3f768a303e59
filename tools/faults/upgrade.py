"""Upgrade under load: an old version runs during the migration, next to the new one, and after."""

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
from tools.faults.feeding import Feed
from tools.faults.ports import free_port
from tools.faults.probing import address, answers
from tools.faults.rig import Rig, link_to
from tools.faults.scenarios import nothing_waits, until
from tools.faults.service import ROOT, Service, procfile
from tools.faults.tickets import NONE_OF, Opening
from tools.faults.verdict import NotHere, Verdict, broken

DATABASE = "before"
LOCKED_AT_MOST_SECONDS = 0.1
# Statements that wait for a table, with time, table and blocker; the migration may wait.
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
    """Watcher of waits for table locks: `with LockWatch(rig.postgres) as watch:`."""

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
    """Thread that ingests a feed in parts, each by the current version."""

    def __init__(self, feed: Feed, by: Service) -> None:
        self.by = by
        self.feed = feed
        self.error: Exception | None = None
        self.ingested = 0
        self._thread = threading.Thread(target=self._feed, daemon=True)
        self._thread.start()

    def _feed(self) -> None:
        try:
            for part in self.feed.parts(PARTS):
                self.by.manage("ingest", "-", stdin=part)
                self.ingested += 1
        except Exception as error:  # raised again by the main thread
            self.error = error

    def wait_for(self, parts: int) -> None:
        until(lambda: self.ingested >= min(parts, PARTS) or self.error is not None)
        if self.error:
            raise self.error


def upgrade(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Migrate, start the new version and stop the old one under load; then roll back."""
    tree = unpack(args.commit or last_version(), rig.place.files / "before")
    url = f"postgres://{SUPERUSER}@/{rig.place.sockets}/{DATABASE}"
    with link_to(rig.postgres) as link:
        link.execute(f"CREATE DATABASE {DATABASE}")
    values = {**rig.service.environment, "DATABASE_URL": url}
    old = Service(values | {"PORT": str(free_port())}, rig.place.files, tree)
    new = Service(values | {"PORT": str(free_port())}, rig.place.files)
    use_database(DATABASE)
    with old, new:
        company, token, webhook = begin(old, rig)
        multiply(rig.postgres, args.rows)
        feed = Feed(company, args.shipments, args.updates)
        feeding = Feeding(feed, old)
        with Opening(old, token=token) as opening, LockWatch(rig.postgres) as watch:
            feeding.wait_for(2)
            new.environment["PGAPPNAME"] = "migrate"
            new.manage("migrate", "--verbosity", "0")
            del new.environment["PGAPPNAME"]
            locked, table, held_by = watch.longest, watch.table, watch.held_by
            feeding.wait_for(feeding.ingested + 1)
            change_over(old, new, opening, feeding)
            feeding.wait_for(feeding.ingested + 2)
            change_over(new, old, opening, feeding)
            feeding.wait_for(PARTS)
        until(nothing_waits)
        figures: dict[str, Any] = {
            **ledger.summary(rig.receiver.log, feed.events(), webhook["secret"]),
            **opening.summary(),
            "longest_wait_for_a_table_seconds": round(locked, 3),
            "waited_for": table,
            "held_by": held_by,
            "commit": args.commit or last_version(),
        }
    troubles = broken(
        figures,
        at_most={
            **NONE_OF,
            "repeats": 0,
            "tickets_asked_for_again": 0,
            "tickets_unanswered": 0,
            "longest_wait_for_a_table_seconds": LOCKED_AT_MOST_SECONDS,
        },
        at_least={"tickets_answered": 1},
    )
    if figures["ticket_errors"]:
        troubles.append(f"tickets were answered with {figures['ticket_errors']}")
    return figures, troubles


def last_version() -> str:
    """Return the newest tag, or HEAD without tags."""
    command = ["git", "describe", "--tags", "--abbrev=0"]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return process.stdout.strip() if process.returncode == 0 else "HEAD"


def unpack(commit: str, folder: Path) -> Path:
    """Unpack the files of a commit into a folder. Raises NotHere."""
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
    """Start the old version, with a company, its token and its webhook."""
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
    """Return the kinds of processes of a version, which may differ from others'."""
    return [kind for kind in procfile(version.tree) if kind != "release"]


def change_over(old: Service, new: Service, opening: Opening, feeding: Feeding) -> None:
    """Start the new version next to the old one, redirect the load, and stop the old one."""
    for kind in kinds_of(new):
        new.start(kind, f"{kind}-next")
    until(lambda: answers(new, "/healthz"))
    opening.url = address(new, "/company/tickets")
    feeding.by = new
    time.sleep(1)
    old.stop(*old.processes)


def multiply(server: Postgres, rows: int) -> None:
    """Insert a number of tickets that were decided a year ago."""
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
