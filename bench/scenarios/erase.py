"""What others notice while a company with a million deliveries is erased.

Its history is made by SQL, with a word of its own in each event and each answer; beside it others
have theirs, and get events at a light, steady rate through the running worker. The command
erase_company does the work, in a process of its own, without the two minutes for which it lets
requests end. Judged: nobody waits for a lock for longer than 100 ms, and the word is nowhere left.
"""

import argparse
import json
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import Max

from bench import history, load, rows
from bench.beside import WARM_UP_SECONDS, LockWatcher, Steadily
from bench.outcome import Outcome, Table, verdict
from bench.progress import PATIENCE_SECONDS, say, within
from bench.receiver import Receiver
from bench.rig import Rig
from companies import erasing
from companies.models import Company, Erasure
from deliveries.models import Attempt, Event
from devtools.bootstrap import ROOT
from devtools.trouble import UsageError
from webhooks.models import Webhook

WORD, OTHERS_WORD = "zebracanary", "quaggacanary"
AT_MOST_MS = 100.0
SPARE_BYTES = 3 * 2**30
# What an erasure writes comes on top of what is there.
BYTES_OF_ROW = 3 * history.BYTES_OF_ROW
WEEKS = 4
NUMBERED: tuple[type[Event] | type[Attempt], ...] = (Event, Attempt)
TABLES = """
SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition
  AND relnamespace = 'public'::regnamespace ORDER BY relname
"""
# Bytes are shown as hex.
COUNT = """
SELECT count(*) FROM {} AS one
WHERE one::text ILIKE '%%' || %(word)s || '%%' OR one::text LIKE '%%' || %(hex)s || '%%'
"""
WEAR = """
SELECT pg_current_wal_lsn() - '0/0', pg_database_size(current_database()),
  (SELECT coalesce(sum(n_dead_tup), 0) FROM pg_stat_user_tables)
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--deliveries", type=int, default=1_000_000, help="of the company")
    parser.add_argument("--webhooks", type=int, default=10, help="of the company")
    parser.add_argument("--others", type=int, default=20, help="companies beside it")
    parser.add_argument("--beside", type=int, default=100_000, help="deliveries of the others")
    parser.add_argument("--rate", type=float, default=20, help="events a second of the others")
    parser.add_argument("--seconds", type=float, default=15, help="of load before, to compare with")


@dataclass(frozen=True)
class Wear:
    """Bytes, but for the rows."""

    wal: int
    size: int
    dead_rows: int


def run(given: argparse.Namespace, rig: Rig) -> Outcome:
    total = given.deliveries + given.beside
    if shutil.disk_usage(rig.folder).free < total * BYTES_OF_ROW + SPARE_BYTES:
        raise UsageError(f"{total} rows need more room than {rig.folder} has; set TMPDIR")
    with Receiver(rig.folder) as receiver:
        company, others = fill(given, receiver)
        words = [count_rows(WORD), count_rows(OTHERS_WORD)]
        rig.start()
        say(f"others alone, {given.rate:g} events/s")
        with Steadily(others, given.rate, 0) as alone:
            time.sleep(given.seconds)
        troubles = settled(alone, receiver)
        figures: dict[str, Any] = {"rate": given.rate, "alone_ms": alone.times(receiver)}
        receiver.clear()
        say(f"erasing {given.deliveries} deliveries beside them")
        with LockWatcher() as locks, Steadily(others, given.rate, alone.number) as there:
            time.sleep(WARM_UP_SECONDS)
            before, began = worn(), time.monotonic()
            erased = erase(rig, company)
            figures["seconds"] = round(time.monotonic() - began, 1)
        troubles += [*settled(there, receiver), *locks.troubles]
        figures |= {
            "deliveries": given.deliveries,
            "rows": erased,
            "rows_per_s": round(sum(erased.values()) / figures["seconds"]),
            "beside_ms": there.times(receiver),
            "longest_lock_ms": round(1000 * locks.longest, 1),
            "at_most_ms": AT_MOST_MS,
            "database": wear(before, worn()),
            "words_before": words[0],
            "words_after": count_rows(WORD),
        }
    if count_rows(OTHERS_WORD) != words[1]:
        troubles.append("something of the others is gone")
    return Outcome(table(figures), figures, troubles, failures(figures))


def fill(given: argparse.Namespace, receiver: Receiver) -> tuple[Company, list[Webhook]]:
    say(f"making {given.deliveries} deliveries of one company, {given.beside} of others")
    take_your_time()
    own = load.webhooks([f"https://{WORD}.example.com/in"] * given.webhooks, companies=1)
    others = load.webhooks([receiver.url("in")] * given.others)
    there = max(table.objects.aggregate(last=Max("id", default=0))["last"] for table in NUMBERED)
    history.fill(ids(own), given.deliveries, WEEKS, word=WORD, behind=there)
    there += given.deliveries
    history.fill(ids(others), given.beside, WEEKS, word=OTHERS_WORD, behind=there)
    rows.analyze(vacuum=True)
    company = own[0].company
    company.name = f"{WORD} Ltd"
    company.save(update_fields=["name"])
    return company, others


def ids(webhooks: list[Webhook]) -> dict[int, int]:
    return {webhook.pk: webhook.company_id for webhook in webhooks}


def take_your_time() -> None:
    """For this connection: filling and searching a million rows takes more than the usual."""
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")


def erase(rig: Rig, company: Company) -> dict[str, int]:
    """By the command; returns the rows of each kind. Raises UsageError with what it said."""
    erasure = erasing.begin_erasure(company.pk)
    # As if the two minutes were over: no request of the company is under way here.
    Erasure.objects.filter(pk=erasure.pk).update(begun_at=erasure.begun_at - erasing.GRACE)
    command = ["manage.py", "erase_company", str(company.pk), "--confirm", company.name, "--json"]
    done = subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env=rig.service.environment,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise UsageError(f"erase_company failed: {done.stderr[-500:]}")
    found: dict[str, int] = json.loads(done.stdout)["erased"][0]["rows"]
    return found


def settled(others: Steadily, receiver: Receiver) -> list[str]:
    """Wait until all that was published has arrived; what is wrong with it."""
    due = len(others.committed)
    if within(PATIENCE_SECONDS, lambda: receiver.count() >= due):
        return others.troubles
    return [*others.troubles, f"{receiver.count()} of {due} events of others arrived"]


def count_rows(word: str) -> int:
    """In how many rows of the whole database a word stands."""
    found = 0
    with connection.cursor() as cursor:
        cursor.execute(TABLES)
        for (name,) in cursor.fetchall():
            values = {"word": word, "hex": word.encode().hex()}
            cursor.execute(COUNT.format(connection.ops.quote_name(name)), values)
            found += cursor.fetchone()[0]
    return found


def worn() -> Wear:
    with connection.cursor() as cursor:
        cursor.execute(WEAR)
        return Wear(*(int(each) for each in cursor.fetchone()))


def wear(before: Wear, after: Wear) -> dict[str, float]:
    return {
        "wal_mb": round((after.wal - before.wal) / 2**20, 1),
        "mb_before": round(before.size / 2**20, 1),
        "mb_after": round(after.size / 2**20, 1),
        "dead_rows": after.dead_rows,
    }


def failures(figures: dict[str, Any]) -> list[str]:
    found = []
    if figures["longest_lock_ms"] > AT_MOST_MS:
        found.append(f"somebody waited for a lock for {figures['longest_lock_ms']} ms")
    if figures["words_after"]:
        found.append(f"the company's word is left in {figures['words_after']} rows")
    return found


def table(figures: dict[str, Any]) -> Table:
    def times(key: str, part: str) -> list[object]:
        return [figures[key][part].get(name, "") for name in ("p50", "p99", "max")]

    lock = figures["longest_lock_ms"]
    return [
        ("milliseconds", "p50", "p99", "max", ""),
        ("others' commits, alone", *times("alone_ms", "commit"), ""),
        ("others' commits, beside", *times("beside_ms", "commit"), ""),
        ("commit to receiver, alone", *times("alone_ms", "receiver"), ""),
        ("commit to receiver, beside", *times("beside_ms", "receiver"), ""),
        ("longest wait for a lock", "", "", lock, verdict(lock <= AT_MOST_MS)),
    ]
