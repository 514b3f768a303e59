"""Tickets that are opened by the API while the service is hurt, each asked for until it is."""

import threading
import time
from collections.abc import Mapping
from typing import Any

import requests
from django.db.models import Count

from companies.models import Company
from companies.services import issue_token
from tickets.models import Ticket
from tools.faults.asking import address
from tools.faults.service import Service

# Carrier activation: it names no shipment, so no rule but the key keeps a second one out.
TYPE = 2
NAME = "opened under fire: "
THREADS = 2
PAUSE_SECONDS = 0.02
# Of one request: a web process that is gone answers nothing.
PATIENCE_SECONDS = 15.0
# What a service says that is hurt, and one that still does the same request for whom was killed.
TRY_AGAIN = (409, 429, 503)


class Opening:
    """`with Opening(service, company) as opening:` in threads of its own, for as long as a block.

    Each ticket has an Idempotency-Key and is asked for until it is answered with 200.
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
        """The ticket's id; None where it has to be asked for again; 0 where it is refused."""
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
        """What was answered beside what is stored. To be asked for after the block."""
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


# Of what `summary` returns there must be none.
NONE_OF = {"tickets_lost": 0.0, "tickets_twice": 0.0, "tickets_nobody_was_told_of": 0.0}


def judged(found: Mapping[str, Any]) -> list[str]:
    """A line for each answer that is neither a ticket nor a reason to ask again."""
    other = set(found["ticket_errors"]) - set(TRY_AGAIN)
    return [f"a ticket was answered with {', '.join(map(str, sorted(other)))}"] if other else []
