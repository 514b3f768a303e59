"""A database with a row in every table: filled and dumped, or loaded, migrated and used.

`python -m tests.upgrades.life fill|use FILE`, on the empty database of DATABASE_URL.
"""

import gzip
import json
import os
import subprocess
import sys
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from tests.databases import Database

DUMPS = Path(__file__).resolve().parent / "dumps"
# The key that decrypts the secrets of every dump.
FIELD_KEY = "bm90IGEgc2VjcmV0OiBrZXkgb2YgdGhlIGR1bXBzISE="
TABLES = """
SELECT relname::text FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
  AND relname <> 'django_migrations' ORDER BY relname
"""
SEQUENCES = """
SELECT sequencename::text, last_value FROM pg_sequences
WHERE schemaname = 'public' AND last_value IS NOT NULL ORDER BY sequencename
"""
# The tests' receivers listen here.
LOOPBACK = (ip_network("127.0.0.0/8"),)
# Tables of loops and requests of running processes.
ALIVE = {
    "deliveries_heartbeat",
    "deliveries_lane",
    "deliveries_loop",
    "deliveries_quarantine",
    "deliveries_samplesend",
}


def live(part: str, file: Path, database: Database) -> dict[str, Any]:
    """Run a part of this module in a process of its own; returns its result."""
    own = {"DATABASE_URL": database.url, "FIELD_KEYS": FIELD_KEY}
    result = subprocess.run(
        [sys.executable, "-m", "tests.upgrades.life", part, str(file)],
        env=os.environ | own | {"DJANGO_SETTINGS_MODULE": "tests.settings"},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, f"{result.stdout}\n{result.stderr}"
    report: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return report


def main(part: str, file: Path) -> None:
    import django

    django.setup()

    from tests.upgrades import filling, using

    report = filling.write(file) if part == "fill" else using.use(file)
    print(json.dumps(report))


def read(file: Path) -> dict[str, Any]:
    dump: dict[str, Any] = json.loads(gzip.decompress(file.read_bytes()))
    return dump


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
