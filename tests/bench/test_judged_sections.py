"""What the judges have found becomes rows of the manual."""

from typing import Any

import pytest

from bench import sections

HEALTHY = {"due": 600, "arrived": 600, "p50_ms": 6.0, "p99_ms": 12.5}
NEVER = {"due": 600, "arrived": 4, "p50_ms": None, "p99_ms": None}
MINUTE = {
    "p50_ms": 8.0,
    "p99_ms": 20.0,
    "p999_ms": 40.5,
    "apart": 2000,
    "apart_longest_ms": 4600.0,
    "worker_cpu_s": 10.04,
    "postgres_cpu_s": 8.0,
    "wal_mb": 180.0,
    "dead_rows": 1234.0,
}
FIGURES: dict[str, dict[str, Any]] = {
    "neighbours": {
        "rows": [
            {"words": "slow", "alone": HEALTHY, "beside": NEVER, "at_most_ms": 37.5, "ok": False}
        ]
    },
    "latency": {
        "paces": [
            {
                "webhooks": 200,
                "ms": 200,
                "deliveries_per_s": 9000.0,
                "at_least_per_s": 8000.0,
                "cpu_s_per_1000": {"worker": 0.1, "postgres": 0.05},
                "ok": True,
            }
        ],
        "small": [
            {
                "workers": 10,
                "capacity_per_s": 100.0,
                "answered_per_s": 95.0,
                "share_of_timeouts": 0.02,
                "p99_ms": 800.0,
                "ok": False,
            }
        ],
    },
    "lanes": {
        "sizes": [
            {
                "webhooks": 1_000_000,
                "fresh_ms": {
                    "oldest": {"p99": None},
                    "middle": {"p99": 900.0},
                    "newest": {"p99": 9.0},
                },
                "oldest_due_ms": {"p99": 1200.5},
                "idle_share": {"worker": 0.01, "postgres": 0.5},
                "ok": False,
            }
        ]
    },
    "start": {
        "starts": 10,
        "median_s": 1.1,
        "longest_s": 1.5,
        "cpu_s": 0.9,
        "django_s": 0.6,
        "ok": True,
    },
    "idle": {
        "pss_mb": 567.0,
        "percent_of_a_core": 2.2,
        "transactions_per_s": 4.0,
        "memory": {
            "web": {"processes": 3, "pss_mb": 162.0, "parts_mb": {"objects": 120.0, "other": 2.0}}
        },
        "percent": {"web": 0.1, "postgres": 0.8},
        "ok": False,
    },
    "hour": {
        "events_per_s": 1000.0,
        "longest_ms": 100.0,
        "minutes": [MINUTE, MINUTE, MINUTE | {"p999_ms": None}],
        "memory_mb": {"the workers": [300.0, 310.0], "PostgreSQL": [150.0, 151.0]},
        "published": 180_000,
        "received": 179_999,
        "repeats": 40,
        "ok": False,
    },
    "snapshot": {
        "events_per_s": 5000.0,
        "batch": 10,
        "compared": [
            {"what": "p99_ms", "quiet": 20.0, "beside": None, "ratio": None, "judged": True}
            | {"ok": False},
            {"what": "arrived", "quiet": 300_000, "beside": 290_000, "ratio": 0.967}
            | {"judged": True, "ok": True},
        ],
        "minutes": [MINUTE],
        "published": 600_000,
        "received": 600_000,
    },
}


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("neighbours", "| slow | 12.5 | never | 37.5 | 4 of 600 | FAILS |"),
        ("latency", "| 200 | 200 ms | 9,000 | 8,000 | 0.100 | 0.050 | ok |"),
        ("latency", "| 10 | 100 | 95.0 | 2.0 % | 800 | FAILS |"),
        ("lanes", "| 1,000,000 | never | 900.0 | 9.0 | 1,200.50 | 51.0 | FAILS |"),
        ("start", "| 10 | 1.10 | 1.50 | 0.90 | 0.60 | ok |"),
        ("idle", "| web | 3 | 162 | 120 | 0 | 2 | 0.10 |"),
        ("idle", "| postgres |  |  |  |  |  | 0.80 |"),
        ("hour", "| p99 | 20.0 | 20.0 |  |  |"),
        ("hour", "| p99.9 | 40.5 | never | 100 | FAILS |"),
        ("snapshot", "| p99 ms | 20.0 | never |  | FAILS |"),
        ("snapshot", "| arrived | 300,000 | 290,000 | 0.97 | ok |"),
        ("idle", "4.0 transactions a second: FAILS."),
    ],
)
def test_a_row(name: str, row: str) -> None:
    assert row in sections.SECTIONS[name](FIGURES[name]).splitlines()


def test_what_was_lost_and_what_a_kill_delayed_is_told() -> None:
    told = sections.SECTIONS["hour"](FIGURES["hour"])

    assert "180,000 published, 179,999 arrived, 40 of them again." in told
    assert "6,000 were under way in the seconds of the kill; the longest of them took 4,600" in told
    assert "the workers 300 and 310 MB, PostgreSQL 150 and 151 MB" in told
