"""Facts about the machine, without which figures mean nothing."""

import os
import platform
import time
from datetime import UTC, datetime
from pathlib import Path

from django.db import connection

ADDITIONS = 2_000_000
Facts = dict[str, object]
SETTINGS = ("server_version", "fsync", "synchronous_commit", "shared_buffers")


def facts(files: Path) -> Facts:
    """Collect facts before a run, with PostgreSQL up; `files` is the folder of its data."""
    with connection.cursor() as cursor:
        postgres = {}
        for name in SETTINGS:
            cursor.execute("SELECT current_setting(%s)", [name])
            postgres[name] = cursor.fetchone()[0]
    return {
        "measured_at": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "cores": len(os.sched_getaffinity(0)),
        "processor": processor(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "additions_per_us": additions_per_us(),
        "file_system": file_system(files),
        "load_before": round(os.getloadavg()[0], 1),
        "postgres": postgres,
    }


def is_busy(facts: Facts) -> bool:
    """Return True if the load before the run was at least half of the cores."""
    return float(str(facts["load_before"])) >= float(str(facts["cores"])) / 2


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return platform.machine()


def file_system(folder: Path) -> str:
    """Return the file system type of a folder, on which the cost of fsync depends."""
    mounts = [line.split()[1:3] for line in Path("/proc/mounts").read_text().splitlines()]
    above = [(len(where), kind) for where, kind in mounts if folder.is_relative_to(where)]
    return max(above)[1]


def additions_per_us() -> int:
    """Measure the speed of one core: machines of one type differ, and share their host."""
    started = time.process_time()
    total = 0
    for number in range(ADDITIONS):
        total += number
    return round(ADDITIONS / (time.process_time() - started) / 1_000_000)
