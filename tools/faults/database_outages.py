"""Outages of PostgreSQL, frozen or locked for a while with deliveries in flight."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import requests
from django.db import connection, transaction

from companies.models import Company
from companies.services import issue_token
from deliveries.models import Attempt
from tools.faults import in_flight, ledger
from tools.faults.feeding import register_signed
from tools.faults.probing import address, answers
from tools.faults.receiver import Receiver
from tools.faults.scenarios import LateAnswers, nothing_waits, patiently, until
from tools.faults.service import Service
from tools.faults.steady import Steady

ANSWER_AFTER_SECONDS = 0.3
ASK_EVERY_SECONDS = 0.2
# No other loop takes over within this time from the beginning.
ITS_LEASE_HOLDS_SECONDS = 2.0
GIVE_UP_SECONDS = 60.0


class Poller:
    """Thread that sends requests to one path, one after the other, for the duration of a block."""

    def __init__(self, url: str, headers: dict[str, str] | None = None) -> None:
        self.url = url
        self.headers = headers
        self.statuses: set[int] = set()
        # Time of the last 200, in seconds since the epoch.
        self.well_at = 0.0
        self.longest_seconds = 0.0
        # Number of 503 without Retry-After.
        self.without_retry_after = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._ask, daemon=True)

    def __enter__(self) -> "Poller":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _ask(self) -> None:
        while not self._over.wait(ASK_EVERY_SECONDS):
            start = time.monotonic()
            try:
                answer = requests.get(self.url, headers=self.headers, timeout=GIVE_UP_SECONDS)
                self.statuses.add(answer.status_code)
                if answer.status_code == 200:
                    self.well_at = time.time()
                self.without_retry_after += (
                    answer.status_code == 503 and "Retry-After" not in answer.headers
                )
            except requests.RequestException:
                # 0 stands for no answer.
                self.statuses.add(0)
            self.longest_seconds = max(self.longest_seconds, time.monotonic() - start)


@contextmanager
def attempts_locked() -> Iterator[None]:
    """Lock the table of attempts for the duration of a block, so that none can be recorded."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE deliveries_attempt")
        yield


def database_stands_still(
    service: Service,
    company: Company,
    receiver: Receiver,
    *,
    still: Callable[[], AbstractContextManager[None]],
    seconds: float,
    per_second: float,
) -> dict[str, Any]:
    """Publish events and call the API before, while and after the database is `still`.

    `repeats_at_most` counts what was in flight: claimed before the beginning, or sent since without
    a record, so that another loop had to send it again.
    """
    webhook = register_signed(company, receiver)
    receiver.answer = LateAnswers(receiver, ANSWER_AFTER_SECONDS)
    api = {"Authorization": f"Bearer {issue_token(company.pk)}"}
    for kind in ("web", "worker"):
        service.start(kind)
    until(lambda: answers(service, "/healthz"))
    with Steady(company, per_second) as steady:
        until(lambda: len(receiver.log) >= 2 * per_second and bool(in_flight.claimed()))
        claimed = in_flight.claimed()
        with (
            Poller(address(service, "/healthz")) as health,
            Poller(address(service, "/company/tickets"), api) as tickets,
        ):
            with still():
                began = time.time()
                time.sleep(seconds)
                over = time.time()
            until(lambda: any(each.at > over for each in list(receiver.log)))
            until(lambda: tickets.well_at > over)
            well = tickets.well_at - over
        time.sleep(ANSWER_AFTER_SECONDS)
    until(patiently(nothing_waits))
    ended = time.time()
    first = min(each.at for each in receiver.log if each.at > over) - over
    claimed |= {
        ledger.event_in(each.body)
        for each in receiver.log
        if began - ANSWER_AFTER_SECONDS < each.at < began + ITS_LEASE_HOLDS_SECONDS
    }
    return {
        **ledger.summary(receiver.log, steady.certain(receiver.log), webhook.secret),
        "claimed_when_it_began": len(claimed),
        "repeats_at_most": len(claimed),
        "published_unsure": len(steady.unsure),
        "api_answers": sorted(tickets.statuses),
        "api_503_without_retry_after": tickets.without_retry_after,
        "api_longest_seconds": round(tickets.longest_seconds, 1),
        "healthz_answers": sorted(health.statuses),
        "healthz_longest_seconds": round(health.longest_seconds, 2),
        "failed_attempts": Attempt.objects.exclude(error="").count(),
        "seconds_to_the_first_delivery": round(first, 1),
        "seconds_to_the_first_answer": round(well, 1),
        "seconds_until_nothing_waits": round(ended - over, 1),
    }
