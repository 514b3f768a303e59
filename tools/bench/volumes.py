"""Volume written per delivery and per ticket: WAL and disk space."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection

WAL = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')"
# Sizes of tables with this prefix and their partitions, with indexes.
DISK = """
SELECT coalesce(sum(pg_total_relation_size(oid)), 0) FROM pg_class
WHERE relkind = 'r' AND relname LIKE ANY(%s)
"""


@dataclass(frozen=True)
class Volume:
    """Bytes so far of WAL, and on disk by table."""

    wal: int
    disk: dict[str, int]

    def since(self, before: "Volume", things: int) -> dict[str, float]:
        """Return the bytes per thing, for N `things`."""
        disk = {name: size - before.disk[name] for name, size in self.disk.items()}
        return {
            "wal": round((self.wal - before.wal) / things, 1),
            "disk": round(sum(disk.values()) / things, 1),
            **{f"disk_{name}": round(size / things, 1) for name, size in disk.items()},
        }


def volume(tables: Sequence[str]) -> Volume:
    """Measure the tables whose names begin with one of `tables`."""
    with connection.cursor() as cursor:
        # Flush pending writes first.
        cursor.execute("CHECKPOINT")
        cursor.execute(WAL)
        (wal,) = cursor.fetchone()
        disk = {}
        for table in tables:
            cursor.execute(DISK, [[table.replace("_", r"\_") + "%"]])
            disk[table.strip("_").rpartition("_")[2]] = int(cursor.fetchone()[0])
    return Volume(int(wal), disk)
