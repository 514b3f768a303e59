"""Tickets opened by the API, each retried until it succeeds, while the service is disturbed."""

import threading
import time
from collections.abc import Mapping
from typing import Any

import requests
from django.db.models import Count

from companies.models import Company
from companies.services import issue_token
from tickets.models import Ticket
from tools.faults.probing import address
from tools.faults.service import Service

# Carrier activation: it names no shipment, so only the idempotency key prevents a second one.
TYPE = 2
NAME = "opened under fire: "
THREADS = 2
PAUSE_SECONDS = 0.02
# Timeout of a request: a dead web process does not answer.
PATIENCE_SECONDS = 15.0
# Statuses of a disturbed service, and of one still at work on the same request.
TRY_AGAIN = (409, 429, 503)


class Opening:
    """Threads that open tickets: `with Opening(service, company) as opening:`.

    Each ticket has an Idempotency-Key and is retried until it is answered with 200.
    """

    def __init__(self, service: Service, company: Company | None = None, token: str = "") -> None:
        self.url = address(service, "/company/tickets")
        self.token = token or (issue_token(company.pk) if company else "")
        self.answered: dict[int, int] = {}
        self.asked_again = 0
        self.unanswered = 0
        self.in_flight = 0
        self.errors: set[int] = set()
        self._lock = threading.Lock()
        self._next = 0
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._open, daemon=True) for _ in range(THREADS)]

    def __enter__(self) -> "Opening":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _open(self) -> None:
        with requests.Session() as session:
            while not self._over.wait(PAUSE_SECONDS):
                with self._lock:
                    number, self._next = self._next, self._next + 1
                while (ticket := self._ask(session, number)) is None:
                    self.asked_again += 1
                    time.sleep(0.1)
                self.answered[number] = ticket

    def _ask(self, session: requests.Session, number: int) -> int | None:
        """Send a request; return the ticket's id, None to retry, or 0 if it is refused."""
        with self._lock:
            self.in_flight += 1
        try:
            answer = session.post(
                self.url,
                json={"type_id": TYPE, "comments": f"{NAME}{number}"},
                headers={
                    "Authorization": f"Bearer {self.token}",
                    "Idempotency-Key": f"fire-{number}",
                },
                timeout=PATIENCE_SECONDS,
            )
        except requests.RequestException:
            self.unanswered += 1
            return None
        finally:
            with self._lock:
                self.in_flight -= 1
        if answer.status_code == 200:
            return int(answer.json()["id"])
        self.errors.add(answer.status_code)
        return None if answer.status_code in TRY_AGAIN else 0

    def summary(self) -> dict[str, Any]:
        """Compare answered with stored tickets; call it after the block."""
        stored = dict(
            Ticket.objects.filter(comments__startswith=NAME)
            .values_list("comments")
            .annotate(times=Count("pk"))
        )
        ids = dict(Ticket.objects.filter(comments__startswith=NAME).values_list("pk", "comments"))
        wrong = sum(ids.get(pk) != f"{NAME}{number}" for number, pk in self.answered.items())
        return {
            "tickets_answered": len(self.answered),
            "tickets_stored": sum(stored.values()),
            "tickets_lost": wrong,
            "tickets_twice": sum(times > 1 for times in stored.values()),
            "tickets_nobody_was_told_of": len(ids.keys() - set(self.answered.values())),
            "tickets_asked_for_again": self.asked_again,
            "tickets_unanswered": self.unanswered,
            "ticket_errors": sorted(self.errors),
        }


# Figures of `summary` that must be 0.
NONE_OF = {"tickets_lost": 0.0, "tickets_twice": 0.0, "tickets_nobody_was_told_of": 0.0}


def judged(figures: Mapping[str, Any]) -> list[str]:
    """Return a line for answers that are neither a ticket nor a reason to retry."""
    other = set(figures["ticket_errors"]) - set(TRY_AGAIN)
    return [f"a ticket was answered with {', '.join(map(str, sorted(other)))}"] if other else []
