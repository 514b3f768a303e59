"""The ledger and the verdicts notice broken promises."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from tests.devtools.test_supervisor import WAIT_SECONDS, wait_until
from tools.dev.bootstrap import ROOT
from tools.faults import ledger
from tools.faults.receiver import Received
from tools.faults.verdict import broken

EXPECTED = [(1, 0), (1, 1), (2, 0)]


def arrival(shipment_id: int, number: int, webhook_id: str, at: float = 0.0) -> Received:
    data = {"shipment_id": shipment_id, "location": f"{number}"}
    body = json.dumps({"type": "tracking.simple", "data": data}).encode()
    return Received("/3", {"X-Webhook-Id": webhook_id}, body, at)


ALL = [arrival(1, 0, "a"), arrival(2, 0, "b"), arrival(1, 1, "c")]


@pytest.mark.parametrize(
    ("log", "wrong"),
    [
        (ALL, {}),
        ([*ALL, arrival(1, 1, "c")], {"repeats": 1}),
        (ALL[:-1], {"received": 2, "lost": 1}),
        # A count of ids would find three of three.
        (
            [*ALL[:-1], arrival(2, 0, "d")],
            {"received": 2, "lost": 1, "repeats": 1, "dishonest_repeats": 1},
        ),
        ([*ALL, arrival(3, 0, "d")], {"received": 4, "unexpected": 1}),
        ([*ALL[:-1], arrival(1, 1, "a")], {"dishonest_repeats": 1}),
        ([ALL[2], ALL[0], ALL[1]], {"out_of_order": 1}),
    ],
)
def test_the_ledger_goes_by_event(log: list[Received], wrong: dict[str, int]) -> None:
    balanced = dict.fromkeys(ledger.summary(ALL, EXPECTED), 0) | {"expected": 3, "received": 3}

    assert ledger.summary(log, EXPECTED) == balanced | wrong


def test_the_first_arrival_after_a_kill_counts() -> None:
    log = [arrival(1, 0, "a", 9.0), arrival(1, 0, "a", 14.0), arrival(2, 0, "b", 13.0)]
    log += [arrival(1, 0, "a", 19.0), arrival(1, 1, "c", 30.0)]

    assert ledger.seconds_until_last(log, {(1, 0), (2, 0)}, 10.0) == 4.0
    assert ledger.seconds_until_last(log, {(3, 0)}, 10.0) is None
    assert ledger.arrived_before(log, {(1, 0), (2, 0)}, 10.0) == 1


@pytest.mark.parametrize(
    ("figures", "lines"),
    [
        ({"lost": 0, "repeats": 3, "first": 2.0}, 0),
        ({"lost": 1, "repeats": 3, "first": 2.0}, 1),
        ({"lost": 0, "repeats": 0, "first": 2.0}, 1),
        ({"lost": 0, "repeats": 3, "first": 6.1}, 1),
        ({"lost": 0, "repeats": 3, "first": None}, 1),
    ],
)
def test_a_broken_promise_is_a_line(figures: dict[str, float | None], lines: int) -> None:
    assert len(broken(figures, at_most={"first": 6}, at_least={"repeats": 1})) == lines


def environments(mark: str) -> list[dict[str, str]]:
    """Return the environments of processes with the mark, which all descendants inherit."""
    marked = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            pairs = path.read_text(errors="replace").split("\0")
            environment = dict(pair.partition("=")[::2] for pair in pairs)
            if mark in environment:
                marked.append(environment)
    return marked


@pytest.mark.slow
def test_told_to_stop_it_leaves_nothing() -> None:
    mark = f"FAULTS_{uuid.uuid4().hex}"
    started = subprocess.Popen(
        [sys.executable, "-m", "tools.faults", "restarts"],
        cwd=ROOT,
        env=os.environ | {mark: ""},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        # No process but the worker and its children has this variable.
        wait_until(lambda: sum("WORKER_CONCURRENCY" in each for each in environments(mark)) >= 2)
        folder = next(each["DATA_DIR"] for each in environments(mark) if "DATA_DIR" in each)
    finally:
        started.send_signal(signal.SIGTERM)
        ended = started.wait(WAIT_SECONDS)

    assert ended == 1
    assert environments(mark) == []
    assert not Path(folder).exists()
