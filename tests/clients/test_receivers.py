"""The example receivers of clients/ verify, recognize repeats and late events, and lose nothing."""

import hashlib
import hmac
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
import requests

from companies.models import Company
from tests import builders as build
from tests.clients.languages import CLIENTS
from tests.programs import program
from tests.sending import deliver, make_due
from tools.faults.receiver import Answer, Received
from tools.faults.receiver import Receiver as FakeReceiver
from webhooks import services
from webhooks.targets import Policy

SECRETS = ["0f1e2d3c4b5a6978", "8796a5b4c3d2e1f0"]


class Program:
    """An example receiver as its user starts it, on a free port."""

    def __init__(self, file: str, store: Path) -> None:
        interpreter = program("node") if file.endswith(".js") else sys.executable
        settings = {"WEBHOOK_SECRET": " ".join(SECRETS), "WEBHOOK_STORE": str(store)}
        self.process = subprocess.Popen(
            [interpreter, CLIENTS / file, "0"],
            env={**os.environ, **settings},
            stdout=subprocess.PIPE,
            text=True,
        )
        first = self.line()
        assert first.startswith("receiving at "), first
        self.url = first.removeprefix("receiving at ")

    def line(self) -> str:
        return self.process.stdout.readline().rstrip()

    def stop(self, number: int = signal.SIGTERM) -> None:
        self.process.send_signal(number)
        self.process.wait(10)
        self.process.stdout.close()


Start = Callable[[], Program]


@pytest.fixture(params=["python/receiver.py", "node/receiver.js"])
def start(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Start]:
    started: list[Program] = []

    def begin() -> Program:
        started.append(Program(request.param, tmp_path / "store"))
        return started[-1]

    yield begin
    for each in started:
        if each.process.returncode is None:
            each.stop()


def request_of(
    id: str,
    sequence: int,
    status: str = "delivered",
    secret: str = SECRETS[0],
    event: str = "tracking.simple",
    **data: object,
) -> tuple[dict[str, str], bytes]:
    """Build a delivery as the service signs it."""
    fields = {"shipment_id": 4101, "status": status, **data}
    body = json.dumps({"type": event, "data": fields}).encode()
    stamp = str(int(time.time() * 1000))
    digest = hmac.new(secret.encode(), f"{stamp}.{event}.".encode() + body, hashlib.sha256)
    headers = {
        "Content-Type": "application/json",
        "X-Webhook-Event": event,
        "X-Webhook-Id": id,
        "X-Webhook-Sequence": str(sequence),
        "X-Webhook-Timestamp": stamp,
        "X-Webhook-Signature": f"v1={digest.hexdigest()}",
    }
    return headers, body


def post(receiver: Program, request: tuple[dict[str, str], bytes]) -> int:
    headers, body = request
    return requests.post(f"{receiver.url}/hook", body, headers=headers, timeout=120).status_code


def test_works_on_each_event_once_and_tells_late_ones_apart(start: Start) -> None:
    receiver = start()
    first = request_of("a", 7, "picked up")

    assert post(receiver, first) == 200
    assert receiver.line() == "verified tracking.simple shipment 4101 picked up"
    assert post(receiver, request_of("b", 9, "delivered", SECRETS[1])) == 200
    assert receiver.line() == "verified tracking.simple shipment 4101 delivered"
    assert post(receiver, first) == 200
    assert receiver.line() == "repeated a"
    assert post(receiver, request_of("c", 8, "shipped")) == 200
    assert receiver.line() == "late tracking.simple shipment 4101 shipped"
    # Another type of webhook reports the same fact.
    assert post(receiver, request_of("d", 9, "delivered")) == 200
    assert receiver.line() == "verified tracking.simple shipment 4101 delivered"
    assert post(receiver, request_of("e", 1, "closed", ticket_id=12)) == 200
    assert receiver.line() == "verified tracking.simple ticket 12 closed"


def test_compares_statuses_with_statuses_and_each_other_type_with_itself(start: Start) -> None:
    receiver = start()

    for request, line in (
        (request_of("a", 9, "", event="surcharge"), "verified surcharge shipment 4101 "),
        # The webhook was slower; no newer status is known.
        (request_of("b", 8), "verified tracking.simple shipment 4101 delivered"),
        # Types 3 and 4 report the same statuses.
        (
            request_of("c", 7, "shipped", event="ecommerceTracking"),
            "late ecommerceTracking shipment 4101 shipped",
        ),
        (request_of("d", 6, "", event="surcharge"), "late surcharge shipment 4101 "),
        (request_of("e", 5, "", event="parcel.held"), "verified parcel.held shipment 4101 "),
        (request_of("f", 4, "shipped"), "late tracking.simple shipment 4101 shipped"),
    ):
        assert post(receiver, request) == 200
        assert receiver.line() == line.rstrip()


@pytest.mark.parametrize("delay", ["paused", "answered 503"])
def test_a_status_that_comes_after_a_newer_surcharge_is_not_late(
    start: Start, company: Company, loopback: Policy, delay: str
) -> None:
    """Lose nothing: two webhooks of a shipment have no common order, and one of them waits."""
    started = start()
    with FakeReceiver() as receiver:
        receiver.answer = lambda request: pass_on(started, request)
        tracking, _ = (
            build.webhook(company, type_id, url=receiver.url, secret=secret)
            for type_id, secret in zip((3, 5), SECRETS, strict=True)
        )
        build.shipment(company)
        if delay == "paused":
            services.change_webhook(company, tracking.pk, active=False)
        else:
            receiver.answer = lambda request: (
                Answer(503)
                if request.headers["X-Webhook-Event"] == "tracking.simple"
                else pass_on(started, request)
            )
        build.fact("tracking", shipment_id=4101, status="Delivered")
        charge = {"surcharge_type": "Overweight", "amount": 1, "currency": "MXN"}
        build.fact(
            "surcharge", surcharge_id=1, shipment_id=4101, transaction_type="surcharge", **charge
        )
        deliver(loopback)
        assert started.line() == "verified surcharge shipment 4101"

        receiver.answer = lambda request: pass_on(started, request)
        services.change_webhook(company, tracking.pk, active=True)
        make_due()
        deliver(loopback)

    assert started.line() == "verified tracking.simple shipment 4101 delivered"
    statuses = [each for each in receiver.log if each.headers["X-Webhook-Event"] != "surcharge"]
    charges = [each for each in receiver.log if each.headers["X-Webhook-Event"] == "surcharge"]
    assert sequence_of(statuses[-1]) < sequence_of(charges[0])


def pass_on(to: Program, request: Received) -> Answer:
    return Answer(post(to, (dict(request.headers), request.body)))


def sequence_of(request: Received) -> int:
    return int(request.headers["X-Webhook-Sequence"])


def test_refuses_what_it_cannot_verify_and_goes_on(start: Start) -> None:
    receiver = start()
    headers, body = request_of("a", 1)

    for request in (
        (headers, body.replace(b"4101", b"4102")),
        (headers | {"X-Webhook-Signature": ""}, body),
        ({}, body),
        request_of("a", 1, secret="another"),
        ({"Content-Type": "application/json"}, b""),
    ):
        assert post(receiver, request) == 401
        assert receiver.line() == "refused: the signature is wrong or old"
    assert post(receiver, (headers | {"X-Webhook-Test": "1"}, body)) == 200
    assert receiver.line() == "tested: the signature is good, and nothing has happened"
    assert post(receiver, (headers, body)) == 200
    assert receiver.line() == "verified tracking.simple shipment 4101 delivered"


def test_work_interrupted_by_a_kill_is_done_after_the_next_start(
    start: Start, tmp_path: Path
) -> None:
    receiver = start()
    assert post(receiver, request_of("a", 7)) == 200
    line = receiver.line()
    receiver.stop(signal.SIGKILL)
    forget_what_is_done(tmp_path / "store")

    assert start().line() == line


def forget_what_is_done(store: Path) -> None:
    """Clear the marks of finished work, as if the kill had come before any was written."""
    if store.read_bytes().startswith(b"SQLite"):
        with closing(sqlite3.connect(store)) as database, database:
            database.execute("UPDATE event SET done = 0")
    else:
        lines = store.read_text().splitlines(keepends=True)
        store.write_text("".join(line for line in lines if '"done"' not in line))


def test_killed_and_started_again_it_knows_what_it_had(start: Start) -> None:
    receiver = start()
    for sequence, id in enumerate("ab", start=7):
        assert post(receiver, request_of(id, sequence)) == 200
        last = receiver.line()
    receiver.stop(signal.SIGKILL)

    again = start()

    assert post(again, request_of("a", 7)) == 200
    # The kill may have come before the last one was marked as done: then it is done once
    # more, whenever the thread that does it comes to it.
    lines = (line for line in iter(again.line, "") if line != last)
    assert next(lines) == "repeated a"
    assert post(again, request_of("c", 6, "shipped")) == 200
    assert next(lines) == "late tracking.simple shipment 4101 shipped"


@pytest.mark.parametrize("file", ["python/receiver.py", "node/receiver.js"])
def test_does_not_start_without_a_secret(file: str) -> None:
    interpreter = program("node") if file.endswith(".js") else sys.executable
    started = subprocess.run(
        [interpreter, CLIENTS / file],
        env={**os.environ, "WEBHOOK_SECRET": ""},
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert (started.returncode, started.stdout) == (1, "")
    assert started.stderr.startswith("Set WEBHOOK_SECRET to ")
