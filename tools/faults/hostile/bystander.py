"""Innocent company during an attack: its requests, its deliveries, the desk's login page."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import requests
from django.db import InterfaceError, OperationalError, connection

from companies.models import Company
from companies.services import issue_token
from tools.faults.feeding import event_numbered, publish_numbered
from tools.faults.ledger import event_in
from tools.faults.probing import address
from tools.faults.receiver import Receiver
from tools.faults.service import Service

PATHS = {"api": "/company/tickets?limit=5", "desk": "/admin/login/", "healthz": "/healthz"}
ASK_EVERY_SECONDS = 0.05
PUBLISH_EVERY_SECONDS = 0.04
# Timeout of requests, and of waits for deliveries.
PATIENCE_SECONDS = 15.0


class Bystander:
    """Company with requests and deliveries at a steady rate, each kind in a thread of its own.

    Its webhook has the `path` at the receiver.
    """

    def __init__(self, service: Service, company: Company, receiver: Receiver, path: str) -> None:
        self.service = service
        self.path = path
        self.company = company
        self.receiver = receiver
        self.headers = {"Authorization": f"Bearer {issue_token(company.pk)}"}
        self.published = 0

    @contextmanager
    def measured(self) -> Iterator[dict[str, Any]]:
        """Measure for the duration of a block; then fill the yielded dict with p99 and errors."""
        figures: dict[str, Any] = {}
        seconds: dict[str, list[float]] = {name: [] for name in PATHS}
        wrong: list[str] = []
        starts: dict[tuple[int, int], float] = {}
        over = threading.Event()
        threads = [
            threading.Thread(target=self._ask, args=(path, seconds[name], wrong, over))
            for name, path in PATHS.items()
        ]
        threads.append(threading.Thread(target=self._publish, args=(starts, over)))
        for thread in threads:
            thread.start()
        try:
            yield figures
        finally:
            over.set()
            for thread in threads:
                thread.join()
        arrived = self._arrivals(starts)
        waits = [arrived.get(event, at + PATIENCE_SECONDS) - at for event, at in starts.items()]
        figures |= {f"{name}_p99_ms": p99(each) for name, each in seconds.items()}
        figures["delivery_p99_ms"] = p99(waits)
        figures["refused"] = sorted(set(wrong))
        figures["asked"] = sum(map(len, seconds.values()))
        figures["published"] = len(starts)
        figures["arrived"] = len(starts.keys() & arrived.keys())

    def _arrivals(self, starts: dict[tuple[int, int], float]) -> dict[tuple[int, int], float]:
        """Return the arrival time of each event, after waiting for the last one."""
        deadline = time.time() + PATIENCE_SECONDS
        while True:
            first: dict[tuple[int, int], float] = {}
            for each in [each for each in list(self.receiver.log) if each.path == self.path]:
                first.setdefault(event_in(each.body), each.at)
            if starts.keys() <= first.keys() or time.time() > deadline:
                return first
            time.sleep(0.05)

    def _ask(
        self, path: str, seconds: list[float], wrong: list[str], over: threading.Event
    ) -> None:
        with requests.Session() as session:
            while not over.wait(ASK_EVERY_SECONDS):
                started = time.monotonic()
                try:
                    answer = session.get(
                        address(self.service, path), headers=self.headers, timeout=PATIENCE_SECONDS
                    )
                    if answer.status_code != 200:
                        wrong.append(f"{path}: {answer.status_code}")
                except requests.RequestException as error:
                    wrong.append(f"{path}: {type(error).__name__}")
                seconds.append(time.monotonic() - started)

    def _publish(self, starts: dict[tuple[int, int], float], over: threading.Event) -> None:
        try:
            while not over.wait(PUBLISH_EVERY_SECONDS):
                number, self.published = self.published, self.published + 1
                try:
                    publish_numbered(self.company, [number])
                except (OperationalError, InterfaceError):
                    connection.close()
                    continue
                starts[event_numbered(number)] = time.time()
        finally:
            connection.close()


def p99(seconds: list[float]) -> float | None:
    """Return the 99th percentile in milliseconds; None without values."""
    ordered = sorted(seconds)
    return round(1000 * ordered[max(0, -(-len(ordered) * 99 // 100) - 1)], 1) if ordered else None
