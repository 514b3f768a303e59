"""Full disk of PostgreSQL, for a while, with deliveries in flight."""

import argparse
import contextlib
import errno
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import requests
from django.db import connection

from tools.faults import database_outages
from tools.faults.probing import address
from tools.faults.rig import Rig
from tools.faults.stand_stills import API_ANSWERS_WITHIN_SECONDS, CARRIED_ON_WITHIN_SECONDS
from tools.faults.verdict import NotHere, Verdict, broken

ROOM_MB = 128
NOTICED = "No space left"
CHUNK = 1024 * 1024


def full_disk(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Run PostgreSQL on a small disk of its own, and fill it for a while."""
    noticed: dict[str, str] = {}
    with small_disk(rig):
        figures = database_outages.database_stands_still(
            rig.service,
            rig.company,
            rig.receiver,
            still=lambda: disk_is_noticed(rig, noticed),
            seconds=args.seconds,
            per_second=args.per_second,
        )
    troubles = broken(
        figures,
        at_most={
            "repeats": figures["repeats_at_most"],
            "failed_attempts": 0,
            "api_longest_seconds": API_ANSWERS_WITHIN_SECONDS,
            "seconds_until_nothing_waits": CARRIED_ON_WITHIN_SECONDS,
        },
    )
    if set(figures["api_answers"]) - {200, 503}:
        troubles.append("the API answered neither what was asked for nor 503")
    troubles += [
        f"{who} did not say so: {text}" for who, text in noticed.items() if NOTICED not in text
    ]
    return figures | {"noticed": noticed}, troubles


@contextlib.contextmanager
def disk_is_noticed(rig: Rig, noticed: dict[str, str]) -> Iterator[None]:
    """Query /readyz, /metrics and doctor while the disk is full."""
    with disk_is_full(rig):
        ready = requests.get(address(rig.service, "/readyz"), timeout=30)
        noticed["readyz"] = f"{ready.status_code} {ready.json()['checks']['database_disk']}"
        metrics = requests.get(address(rig.service, "/metrics"), timeout=30).text
        lines = [line for line in metrics.splitlines() if 'part="database_disk"' in line]
        noticed["metrics"] = f"{lines} {NOTICED if lines and lines[0].endswith(' 0.0') else ''}"
        try:
            noticed["doctor"] = rig.service.manage("doctor", "--only", "database_disk")
        except subprocess.CalledProcessError as error:
            noticed["doctor"] = error.stdout.decode()
        yield


@contextlib.contextmanager
def small_disk(rig: Rig) -> Iterator[None]:
    """Put PostgreSQL's files on a disk of their own for the duration of a block. Raises NotHere."""
    data = rig.postgres.data
    away = data.with_name("postgresql.away")
    rig.postgres.stop()
    connection.close()
    data.rename(away)
    rig.place.give(data)
    size = sum(file.stat().st_size for file in away.rglob("*") if file.is_file())
    options = f"size={size // CHUNK + ROOM_MB}m"
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", data], capture_output=True, text=True
    )
    if mounted.returncode:
        data.rmdir()
        away.rename(data)
        raise NotHere(f"a disk cannot be mounted here: {mounted.stderr.strip()}")
    try:
        copy_whole(rig, away, data)
        rig.postgres.start_and_wait()
        yield
    finally:
        rig.postgres.stop()
        connection.close()
        shutil.rmtree(away)
        copy_whole(rig, data, away)
        subprocess.run(["umount", data], check=True)
        data.rmdir()
        away.rename(data)
        rig.postgres.start_and_wait()


def copy_whole(rig: Rig, data: Path, to: Path) -> None:
    """Copy the files of the stopped PostgreSQL into a folder owned by its account."""
    rig.place.give(to)
    subprocess.run(["cp", "-a", f"{data}/.", to], check=True)
    to.chmod(0o700)
    if rig.place.account:
        os.chown(to, rig.place.account.uid, rig.place.account.gid)


@contextlib.contextmanager
def disk_is_full(rig: Rig) -> Iterator[None]:
    """Fill the disk for the duration of a block, and restart a server that has ended."""
    ballast = rig.postgres.data / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while file.write(bytes(CHUNK)):
                pass
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
    try:
        yield
    finally:
        ballast.unlink()
        if rig.postgres.process.poll() is not None:
            rig.postgres.start_and_wait()
