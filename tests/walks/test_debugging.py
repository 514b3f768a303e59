"""The walk of docs/receiving.md: a company finds out why nothing arrives, by the API alone."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from companies.models import Company
from deliveries import publishing
from deliveries.models import Delivery, State
from tests import builders as build
from tests.sending import deliver, pass_time
from tools.faults import ledger
from tools.faults.receiver import Answer, Received, Receiver
from webhooks.targets import Policy

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "receiving.md").read_text()
STEPS = re.findall(r"```\n(GET|POST) (\S+)(?: (\{.*\}))?\n(\{.*\})\n```", PAGE)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


def shape(value: Any) -> Any:
    """Reduce a value to its shape, which page and service must share: names and types."""
    if isinstance(value, dict):
        return {name: shape(inner) for name, inner in value.items()}
    if isinstance(value, list):
        # The page shows the first of several that are alike.
        shapes = [shape(inner) for inner in value]
        return [each for place, each in enumerate(shapes) if each not in shapes[:place]]
    return type(value)


def fail_for(span: timedelta, allowed: Policy) -> None:
    """Let time pass, from one attempt to the next, by the documented retry schedule."""
    while True:
        deliver(allowed)
        now = timezone.now()
        dues = [due_at - now for due_at in Delivery.objects.open().values_list("due_at", flat=True)]
        step = max(min([span, *dues]), timedelta(milliseconds=1))
        pass_time(step)
        span -= step
        if not span:
            return


class Walk:
    """Takes the page's steps one by one, with this run's ids and times for the page's."""

    def __init__(self, api: APIClient, **ours: str) -> None:
        self.api = api
        self.ours = ours
        self.steps = iter(STEPS)

    def step(self) -> dict[str, Any]:
        method, path, body, promised = next(self.steps)
        for theirs, ours in self.ours.items():
            path, body = path.replace(theirs, ours), body.replace(theirs, ours)
        send = getattr(self.api, method.lower())
        answer = send(path, body, content_type="application/json") if body else send(path)
        assert answer.status_code == 200, (path, answer.content)
        assert shape(answer.json()) == shape(json.loads(promised)), path
        return answer.json()


def test_a_company_finds_and_mends_a_failing_receiver(
    api: APIClient,
    company: Company,
    receiver: Receiver,
    loopback: Policy,
) -> None:
    webhook = build.webhook(company, url=receiver.url)
    receiver_secret = {"secret": "the one that was lost"}

    def answer(received: Received) -> Answer:
        good = ledger.verified(receiver_secret["secret"], received)
        return Answer(200) if good else Answer(401, body=b"bad signature")

    receiver.answer = answer
    began = timezone.now() - timedelta(seconds=5)
    publishing.publish([build.news(company, 4101, body=b"%d" % n) for n in range(2)])
    fail_for(timedelta(hours=80), loopback)
    publishing.publish([build.news(company, 4101, body=b"2")])
    fail_for(timedelta(hours=5), loopback)
    states = Delivery.objects.order_by("event_id").values_list("state", flat=True)
    assert list(states) == [State.GIVEN_UP, State.GIVEN_UP, State.WAITING]
    walk = Walk(
        api,
        **{"/webhooks/1/": f"/webhooks/{webhook.pk}/", "2026-01-31T12:00:00Z": began.isoformat()},
    )

    assert walk.step()["data"]["condition"] == "failing"
    newest = walk.step()["data"][0]
    assert (newest["last_status"], newest["attempts"]) == (401, 10)
    walk.ours["01a1fa12-91b9-736b-934f-6c5b515fd1da"] = newest["id"]
    assert walk.step()["data"]["log"][0]["answer"] == "bad signature"
    receiver_secret["secret"] = walk.step()["data"]["secret"]
    assert walk.step() == {"data": {"redelivered": 3}}
    receiver.log.clear()
    deliver(loopback)

    assert walk.step()["data"]["condition"] == "well"
    assert [received.body for received in receiver.log] == [b"0", b"1", b"2"]
    assert next(walk.steps, None) is None
