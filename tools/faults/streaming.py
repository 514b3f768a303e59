"""Streams of webhooks, read by cursor while many write and the database is disturbed."""

import argparse
import contextlib
import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import requests
from django.db import InterfaceError, OperationalError, connection, transaction

from companies.services import issue_token
from deliveries import publishing
from deliveries.models import Event
from shipments.event_types.status import TRACKING_SIMPLE
from tools.faults.feeding import register_signed
from tools.faults.ledger import verified
from tools.faults.probing import address, answers
from tools.faults.receiver import Received
from tools.faults.rig import Rig
from tools.faults.scenarios import until
from tools.faults.verdict import Verdict, broken
from webhooks import services
from webhooks.models import Webhook

MOST_IN_A_COMMIT = 20
LONGEST_COMMIT_SECONDS = 0.2
ROLLED_BACK = 0.05
PATIENCE_SECONDS = 15.0


class RolledBackOnPurpose(Exception):
    """Deliberate rollback, so that some numbers are drawn and never become visible."""


class Follower:
    """Thread that reads a webhook's stream over HTTP from its beginning."""

    def __init__(self, rig: Rig, webhook: Webhook) -> None:
        self.webhook = webhook
        self.url = address(rig.service, f"/webhooks/{webhook.pk}/events")
        self.headers = {"Authorization": f"Bearer {issue_token(rig.company.pk)}"}
        self.events: list[dict[str, Any]] = []
        self.pages = self.unanswered = 0
        self.errors: set[int] = set()

    def follow(self, is_over: Callable[[], bool]) -> None:
        """Read until `is_over` and the stream has no more events."""
        cursor = ""
        with requests.Session() as session:
            while True:
                last = is_over()
                page = self._ask(session, cursor)
                if page is None:
                    time.sleep(0.1)
                    continue
                self.events += page["data"]
                self.pages += 1
                cursor = page["next_cursor"]
                if last and not page["data"]:
                    return

    def _ask(self, session: requests.Session, cursor: str) -> dict[str, Any] | None:
        query = {"after": cursor} if cursor else {}
        try:
            answer = session.get(
                self.url, params=query, headers=self.headers, timeout=PATIENCE_SECONDS
            )
        except requests.RequestException:
            self.unanswered += 1
            return None
        if answer.status_code == 200:
            return dict(answer.json())
        self.errors.add(answer.status_code)
        return None

    def summary(self, stored: set[str], acknowledged: set[str]) -> dict[str, Any]:
        """Compare the events read with those stored, and with those confirmed as committed."""
        bodies = [each["body"] for each in self.events]
        numbers = [each["sequence"] for each in self.events]
        signed = sum(
            verified(
                self.webhook.secret or "",
                Received("", each["headers"], each["body"].encode(), time.time()),
            )
            for each in self.events
        )
        return {
            "read": len(bodies),
            "missing": len((stored | acknowledged) - set(bodies)),
            "twice": len(bodies) - len(set(bodies)),
            "unexpected": len(set(bodies) - stored),
            "out_of_order": sum(one >= two for one, two in pairwise(numbers)),
            "badly_signed": len(bodies) - signed,
            "pages": self.pages,
            "unanswered": self.unanswered,
            "errors": sorted(self.errors),
        }


class Writers:
    """Threads that publish in slow transactions, each with a connection of its own."""

    def __init__(self, rig: Rig, count: int, seed: int) -> None:
        self.company = rig.company
        self.count, self.seed = count, seed
        self.acknowledged: set[str] = set()
        self.over = threading.Event()

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        with ThreadPoolExecutor(self.count) as pool:
            working = [pool.submit(self._write, writer) for writer in range(self.count)]
            try:
                yield
            finally:
                self.over.set()
                for each in working:
                    each.result()

    def _write(self, writer: int) -> None:
        dice = random.Random(f"{self.seed}-{writer}")  # noqa: S311 - no secret
        number = 0
        try:
            while not self.over.is_set():
                bodies = [
                    f"{writer}.{number + n}" for n in range(dice.randint(1, MOST_IN_A_COMMIT))
                ]
                number += len(bodies)
                try:
                    self._commit(writer, bodies, dice)
                    self.acknowledged.update(bodies)
                except RolledBackOnPurpose:
                    pass
                except (OperationalError, InterfaceError):
                    # The table of events will show if it was committed.
                    connection.close()
                    time.sleep(0.1)
        finally:
            connection.close()

    def _commit(self, writer: int, bodies: list[str], dice: random.Random) -> None:
        with transaction.atomic():
            for body in bodies:
                news = publishing.News(
                    self.company.pk, TRACKING_SIMPLE.id, writer, "", f'"{body}"'.encode(), None
                )
                publishing.publish([news])
            time.sleep(dice.random() ** 4 * LONGEST_COMMIT_SECONDS)
            if dice.random() < ROLLED_BACK:
                raise RolledBackOnPurpose


def stream(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Publish in transactions of all lengths, kill backends, and read every event once by cursor.

    One webhook is fetched, the other has a receiver, and both are read by cursor meanwhile.
    """
    webhooks = [
        services.register_webhook(rig.company, type_id=TRACKING_SIMPLE.id, url=None),
        register_signed(rig.company, rig.receiver),
    ]
    rig.service.start("web")
    rig.service.start("worker")
    until(lambda: answers(rig.service, "/healthz"))
    writers = Writers(rig, args.writers, args.seed)
    followers = [Follower(rig, webhook) for webhook in webhooks]
    dice, finished = random.Random(args.seed), threading.Event()  # noqa: S311 - no secret
    with ThreadPoolExecutor(len(followers)) as pool:
        reading = [pool.submit(each.follow, finished.is_set) for each in followers]
        with writers.at_work():
            for _ in range(args.kills + 1):
                time.sleep(args.seconds / (args.kills + 1))
                if args.kills:
                    rig.kill_backend(dice)
        finished.set()
        for each in reading:
            each.result()
    connection.close()
    stored = {bytes(body).decode() for body in Event.objects.values_list("body", flat=True)}
    acknowledged = {f'"{body}"' for body in writers.acknowledged}
    figures: dict[str, Any] = {"published": len(stored), "confirmed": len(acknowledged)}
    troubles = broken(figures, at_least={"published": 1})
    for name, follower in zip(("fetched", "sent"), followers, strict=True):
        figures[name] = follower.summary(stored, acknowledged)
        wrong = broken(
            figures[name],
            at_most={"missing": 0, "twice": 0},
            at_least={"read": len(stored)},
        )
        troubles += [f"{name}: {each}" for each in wrong]
        if strange := set(figures[name]["errors"]) - {503}:
            troubles.append(f"{name}: a page was answered with {sorted(strange)}")
    return figures, troubles
