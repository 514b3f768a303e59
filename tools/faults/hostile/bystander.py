"""What a company that does nothing wrong notices: its requests, its deliveries, the desk's door."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import requests
from django.db import InterfaceError, OperationalError, connection

from companies.models import Company
from companies.services import issue_token
from tools.faults.asking import address
from tools.faults.feeding import event_numbered, publish_numbered
from tools.faults.ledger import event_in
from tools.faults.receiver import Receiver
from tools.faults.service import Service

PATHS = {"api": "/company/tickets?limit=5", "desk": "/admin/login/", "healthz": "/healthz"}
ASK_EVERY_SECONDS = 0.05
PUBLISH_EVERY_SECONDS = 0.04
# Who waits for longer has given up.
PATIENCE_SECONDS = 15.0


class Bystander:
    """Asks and is sent to at a steady rate while `measured`, each kind in a thread of its own.

    Its webhook is the `path` at the receiver.
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
        """For the length of a block; then what it was given has p99 in ms and what went wrong."""
        found: dict[str, Any] = {}
        seconds: dict[str, list[float]] = {name: [] for name in PATHS}
        wrong: list[str] = []
        sent: dict[tuple[int, int], float] = {}
        over = threading.Event()
        threads = [
            threading.Thread(target=self._ask, args=(path, seconds[name], wrong, over))
            for name, path in PATHS.items()
        ]
        threads.append(threading.Thread(target=self._publish, args=(sent, over)))
        for thread in threads:
            thread.start()
        try:
            yield found
        finally:
            over.set()
            for thread in threads:
                thread.join()
        arrived = self._arrivals(sent)
        waits = [arrived.get(event, at + PATIENCE_SECONDS) - at for event, at in sent.items()]
        found |= {f"{name}_p99_ms": p99(each) for name, each in seconds.items()}
        found["delivery_p99_ms"] = p99(waits)
        found["refused"] = sorted(set(wrong))
        found["asked"] = sum(map(len, seconds.values()))
        found["published"] = len(sent)
        found["arrived"] = len(sent.keys() & arrived.keys())

    def _arrivals(self, sent: dict[tuple[int, int], float]) -> dict[tuple[int, int], float]:
        """When each event came; waits for the last as long as anybody would."""
        deadline = time.time() + PATIENCE_SECONDS
        while True:
            first: dict[tuple[int, int], float] = {}
            for each in [each for each in list(self.receiver.log) if each.path == self.path]:
                first.setdefault(event_in(each.body), each.at)
            if sent.keys() <= first.keys() or time.time() > deadline:
                return first
            time.sleep(0.05)

    def _ask(
        self, path: str, seconds: list[float], wrong: list[str], over: threading.Event
    ) -> None:
        with requests.Session() as session:
            while not over.wait(ASK_EVERY_SECONDS):
                begun = time.monotonic()
                try:
                    answer = session.get(
                        address(self.service, path), headers=self.headers, timeout=PATIENCE_SECONDS
                    )
                    if answer.status_code != 200:
                        wrong.append(f"{path}: {answer.status_code}")
                except requests.RequestException as error:
                    wrong.append(f"{path}: {type(error).__name__}")
                seconds.append(time.monotonic() - begun)

    def _publish(self, sent: dict[tuple[int, int], float], over: threading.Event) -> None:
        try:
            while not over.wait(PUBLISH_EVERY_SECONDS):
                number, self.published = self.published, self.published + 1
                try:
                    publish_numbered(self.company, [number])
                except (OperationalError, InterfaceError):
                    connection.close()
                    continue
                sent[event_numbered(number)] = time.time()
        finally:
            connection.close()


def p99(seconds: list[float]) -> float | None:
    """In milliseconds, a value that occurred; None where there is none."""
    ordered = sorted(seconds)
    return round(1000 * ordered[max(0, -(-len(ordered) * 99 // 100) - 1)], 1) if ordered else None
