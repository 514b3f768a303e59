"""clients/: verify, in five languages, accepts what we sign and nothing else."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from companies.models import Company
from deliveries import publishing
from tests import builders as build
from tests.clients.languages import (
    BODY,
    HEADERS,
    LANGUAGES,
    SECRET,
    SIGNATURE,
    TIMESTAMP,
    Language,
    Question,
)
from tests.clients.stand_in import load
from tests.sending import deliver
from tools.faults.receiver import Receiver
from webhooks.targets import Policy

A_MINUTE = 60_000


@pytest.fixture(params=LANGUAGES, ids=lambda language: language.interpreter)
def language(request: pytest.FixtureRequest) -> Language:
    return request.param


GOOD = {
    "as it came": Question(),
    "names of headers in lower case": Question({name.lower(): HEADERS[name] for name in HEADERS}),
    "four minutes old": Question(now_ms=TIMESTAMP + 4 * A_MINUTE),
    "four minutes ahead": Question(now_ms=TIMESTAMP - 4 * A_MINUTE),
}
BAD = {
    "another shipment": Question(body=BODY.replace("4101", "4102").encode()),
    "a space more": Question(body=BODY.encode() + b" "),
    "in another encoding": Question(body=BODY.encode("latin-1")),
    "no body": Question(body=b""),
    "another secret": Question(secret=SECRET.upper()),
    "another time": Question(HEADERS | {"X-Webhook-Timestamp": str(TIMESTAMP + 1)}),
    "another event": Question(HEADERS | {"X-Webhook-Event": "surcharge"}),
    "a signature cut off": Question(HEADERS | {"X-Webhook-Signature": SIGNATURE[:-1]}),
    "a signature's last digit": Question(HEADERS | {"X-Webhook-Signature": SIGNATURE[:-1] + "9"}),
    "a signature in capitals": Question(HEADERS | {"X-Webhook-Signature": SIGNATURE.upper()}),
    "no version": Question(HEADERS | {"X-Webhook-Signature": SIGNATURE[3:]}),
    "a letter beyond ASCII": Question(HEADERS | {"X-Webhook-Signature": "v1=é"}),
    "an empty signature": Question(HEADERS | {"X-Webhook-Signature": ""}),
    "no header": Question({}),
    "six minutes old": Question(now_ms=TIMESTAMP + 6 * A_MINUTE),
    "six minutes ahead": Question(now_ms=TIMESTAMP - 6 * A_MINUTE),
}


def test_accepts_the_known_answer_and_refuses_whatever_was_tampered_with(
    language: Language, tmp_path: Path
) -> None:
    questions = {**GOOD, **BAD, "no secret": Question(secret="")}

    verdicts = dict(zip(questions, language.verdicts([*questions.values()], tmp_path), strict=True))

    right = dict.fromkeys(GOOD, True) | dict.fromkeys(BAD, False) | {"no secret": "raised"}
    assert verdicts == right


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


def test_accepts_what_is_delivered_now(
    company: Company, receiver: Receiver, loopback: Policy
) -> None:
    webhook = build.webhook(company, url=receiver.url)
    publishing.publish([build.news(company, body=BODY.encode())])

    deliver(loopback)

    (received,) = receiver.log
    verify = load("python/verify.py").verify
    assert verify(webhook.secret, received.headers, received.body) is True
    assert verify(webhook.secret, received.headers, received.body + b" ") is False
