"""The service on RabbitMQ, with the broker and without it."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
import requests
from celery import current_app

from companies.models import Company
from companies.services import issue_token
from core.health.broker import broker
from deliveries.engine.loop import LINGER_SECONDS
from deliveries.engine.standing_by import IDLE_SECONDS
from deliveries.monitoring import backlog
from tests.files import picture
from tests.programs import program
from tests.walks.conftest import SHORT_LEASE
from tickets.models import TicketFile
from tools.dev.places import throwaway_place
from tools.faults import helpers, ledger
from tools.faults.feeding import STATUSES, register_signed
from tools.faults.probing import address, answers
from tools.faults.processes import children_of, wait_until_gone
from tools.faults.rabbitmq import SERVER, RabbitMQ
from tools.faults.receiver import Receiver
from tools.faults.scenarios import LateAnswers, until
from tools.faults.service import ROOT, Service

ALARM = "RabbitMQ takes no messages: its alarm for memory or disk is on"
# A loop that has work polls for LINGER_SECONDS, and then once in IDLE_SECONDS: an early arrival in
# that second was due to the doorbell.
LINGERED_SECONDS = LINGER_SECONDS + 0.15
RUNG_SECONDS = 0.4 * IDLE_SECONDS
# The scheduler runs the job for small pictures once a minute.
JOB_SECONDS = 20.0
SOON_SECONDS = 20.0
# A request whose broker is away tries twice to connect, half a second each.
ANSWER_SECONDS = 5.0
GONE_SECONDS = 60.0
BACKLOG = 40
STARTS_ONE = """
import time
from tools.dev.places import throwaway_place
from tools.faults.rabbitmq import RabbitMQ
place = throwaway_place("parceldesk-rabbit-")
print(RabbitMQ(place).start().pid, place.files, flush=True)
time.sleep(600)
"""


@pytest.fixture
def rabbit() -> Iterator[RabbitMQ]:
    program(SERVER)
    place = throwaway_place("parceldesk-rabbit-")
    rabbit = RabbitMQ(place)
    try:
        rabbit.start_and_wait()
        yield rabbit
    finally:
        rabbit.stop()
        for folder in (place.files, place.sockets):
            shutil.rmtree(folder, ignore_errors=True)


class Caller:
    """A company that publishes events of one shipment, and receives them."""

    def __init__(self, service: Service, company: Company, receiver: Receiver) -> None:
        self.service = service
        self.receiver = receiver
        self.headers = {"Authorization": f"Bearer {issue_token(company.pk)}"}
        self.published = 0
        self.webhook = register_signed(company, receiver)
        self.shipment = self.post("/test/shipments", json={})["data"]["shipment_id"]

    def post(self, path: str, **body: Any) -> Any:
        answer = requests.post(
            address(self.service, path), headers=self.headers, timeout=ANSWER_SECONDS, **body
        )
        assert answer.status_code == 200, answer.text
        return answer.json()

    def publish(self) -> None:
        status = STATUSES[self.published % len(STATUSES)]
        event = {"kind": "tracking", "status": status, "location": f"{self.published}"}
        self.post(f"/test/shipments/{self.shipment}/events", json=event)
        self.published += 1

    def arrived(self) -> int:
        return len(ledger.first_of_each(self.receiver.log))

    def seconds_to_arrive(self) -> float:
        return until(lambda: self.arrived() == self.published, SOON_SECONDS)

    def is_rung_for(self) -> bool:
        """Return whether one of three events arrives before a loop would have looked by itself."""
        for _ in range(3):
            self.publish()
            self.seconds_to_arrive()
            time.sleep(LINGERED_SECONDS)
            self.publish()
            if self.seconds_to_arrive() < RUNG_SECONDS:
                return True
        return False

    def summary(self) -> dict[str, Any]:
        events = [(self.shipment, number) for number in range(self.published)]
        return ledger.summary(self.receiver.log, events, self.webhook.secret)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_rabbitmq_rings_and_is_not_missed(
    service: Service, acme: Company, receiver: Receiver, rabbit: RabbitMQ
) -> None:
    # Configure BROKER_URL alone: RabbitMQ is no cache.
    del service.environment["CACHE_URL"]
    service.environment |= SHORT_LEASE | {"BROKER_URL": rabbit.url, "DELIVERY_LOOPS": "1"}
    for kind in ("web", "worker"):
        service.start(kind)
    until(lambda: backlog.last_pulse() is not None)
    until(lambda: answers(service, "/readyz"))
    caller = Caller(service, acme, receiver)

    assert caller.is_rung_for()
    caller.post("/company/upload/evidences", files={"file": ("a.png", picture(), "image/png")})
    until(lambda: TicketFile.objects.get().thumbnail is not None, JOB_SECONDS)

    kill_worker(caller)
    be_without(helpers.suspended(rabbit.process.pid), caller, "timed out")
    be_without(alarm(rabbit), caller, ALARM)

    output = doctor(service, "broker", "broker_memory", "settings")
    assert re.findall(r"^(\w+) +(\w+)", output, re.MULTILINE) == [
        ("ok", "broker"),
        ("ok", "broker_memory"),
        ("warn", "settings"),
    ]
    assert "config.W001: The cache is not shared" in output
    assert caller.is_rung_for()
    outcome = caller.summary()
    assert (outcome["lost"], outcome["out_of_order"], outcome["dishonest_repeats"]) == (0, 0, 0)


@pytest.mark.slow
def test_probes_while_an_alarm_is_on_leave_no_connection(
    rabbit: RabbitMQ, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Leave none: RabbitMQ reads nothing from a blocked connection, not even its close."""
    monkeypatch.setattr(current_app.conf, "broker_url", rabbit.url)

    with alarm(rabbit):
        for _ in range(5):
            with pytest.raises(RuntimeError, match=ALARM):
                broker()
        until(lambda: rabbit.control("list_connections", "pid") == "", GONE_SECONDS)

    assert broker() == "takes what is written"


def kill_worker(caller: Caller) -> None:
    """Kill the worker in the middle of a backlog, and start another."""
    answer = caller.receiver.answer
    caller.receiver.answer = LateAnswers(caller.receiver, 0.05)
    for _ in range(BACKLOG):
        caller.publish()
    until(lambda: caller.arrived() > caller.published - BACKLOG * 3 // 4)
    caller.service.kill("worker")
    assert caller.arrived() < caller.published, "the kill came too late to prove anything"
    caller.service.start("worker")
    caller.seconds_to_arrive()
    caller.receiver.answer = answer


def be_without(away: AbstractContextManager[None], caller: Caller, says: str) -> None:
    """Check that events arrive while the broker is `away`, and that doctor reports it."""
    with away:
        caller.publish()
        caller.seconds_to_arrive()
        ready = requests.get(address(caller.service, "/readyz"), timeout=ANSWER_SECONDS)
        assert ready.status_code == 503
        assert ready.json()["checks"]["broker"] == {"ok": False, "detail": says}
        output = doctor(caller.service, "broker", "broker_memory")
        failures = re.findall(r"^fail +(\w+) +(.*)$", output, re.MULTILINE)
        assert failures == [("broker", says), ("broker_memory", says)]
    until(lambda: answers(caller.service, "/readyz"), SOON_SECONDS)


@contextmanager
def alarm(rabbit: RabbitMQ) -> Iterator[None]:
    """Make RabbitMQ believe that it lacks memory, for the length of a block."""
    rabbit.control("set_vm_memory_high_watermark", "0.0001")
    yield
    rabbit.control("set_vm_memory_high_watermark", "0.4")


def doctor(service: Service, *checks: str) -> str:
    try:
        return service.manage("doctor", "--only", *checks)
    except subprocess.CalledProcessError as failed:
        return str(failed.stdout.decode())


def test_nothing_of_a_frozen_rabbitmq_outlives_whoever_started_it() -> None:
    program(SERVER)
    command = [sys.executable, "-c", STARTS_ONE]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as starter:
        assert starter.stdout is not None
        pid, folder = starter.stdout.readline().split()
        # Wait for epmd, and the parent of Erlang's other helpers.
        until(lambda: len(children_of(int(pid))) >= 2, SOON_SECONDS)
        started = [int(pid), *children_of(int(pid))]
        os.kill(int(pid), signal.SIGSTOP)
        starter.kill()

    assert wait_until_gone(started, SOON_SECONDS) == 0
    shutil.rmtree(folder)
