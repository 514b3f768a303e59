import socket
from collections.abc import Iterator
from typing import Any

import pytest
from pytest_django import Settings
from rest_framework.test import APIClient

from companies.models import Company
from deliveries.http.answers import Failure
from deliveries.on_demand import sample_delivery
from tests.deliveries.hostile import Receiver, receiver, saying, silent
from tests.shipments.trying import PATH, tried

UNREACHABLE = "The receiver cannot be reached."

pytestmark = pytest.mark.usefixtures("loopback")


@pytest.fixture
def closed_port() -> Iterator[int]:
    """Yield a port where nobody listens, and nobody can start to."""
    with socket.socket() as socket_:
        socket_.bind(("127.0.0.1", 0))
        yield socket_.getsockname()[1]


@pytest.mark.parametrize(
    ("answer", "status"),
    [(b"404 Not Found", 404), (b"500 Oops", 500), (b"302 Found\r\nLocation: http://x/", 302)],
)
def test_an_answer_that_is_no_success_is_told(api: APIClient, answer: bytes, status: int) -> None:
    with receiver(saying(b"HTTP/1.1 " + answer + b"\r\nContent-Length: 0\r\n\r\n")) as running:
        result = tried(api, running.url)

    assert (result["delivered"], result["status"]) == (False, status)
    assert result["error"] == "The receiver must answer with a status from 200 to 299."


def test_a_failure_is_told_in_a_general_sentence(
    api: APIClient, settings: Settings, closed_port: int
) -> None:
    settings.DELIVERY_TIMEOUT_SECONDS = 30
    with receiver(saying(b"what?")) as rude, receiver(silent) as mute:
        results = {
            "closed": tried(api, f"http://127.0.0.1:{closed_port}/"),
            "rude": tried(api, rude.url),
        }
        settings.DELIVERY_TIMEOUT_SECONDS = 0.3
        results["mute"] = tried(api, mute.url)

    assert {name: each["error"] for name, each in results.items()} == {
        "closed": UNREACHABLE,
        "rude": "The receiver closed the connection or did not answer in HTTP.",
        "mute": "The receiver did not answer within the time limit.",
    }
    assert all(each["delivered"] is False for each in results.values())
    assert all(each["status"] is None for each in results.values())


def test_an_address_that_is_forbidden_reads_like_one_that_is_not_there() -> None:
    same = {Failure.DNS, Failure.FORBIDDEN_ADDRESS, Failure.REFUSED}

    assert {sample_delivery.REASONS[failure] for failure in same} == {UNREACHABLE}
    assert set(Failure) - set(sample_delivery.REASONS) == {
        Failure.BAD_TARGET,
        Failure.INTERNAL,
        Failure.NOT_SENT,
        Failure.PROXY,
        Failure.PROXY_REFUSED,
    }


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example.com/",
        "https://10.0.0.1/",
        "https://user:pass@hooks.example.com/",
        "https://hooks.example.com:22/",
        "https://localhost/",
        "ftp://hooks.example.com/",
        "hooks",
        "https://h.example.com/" + "x" * 2048,
    ],
)
def test_refuses_what_could_not_be_registered(
    api: APIClient, company: Company, settings: Settings, url: str
) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = ()
    settings.WEBHOOK_ALLOW_HTTP = False

    answer = api.post(PATH, {"tracking_number": "x", "webhook_url": url})

    assert answer.status_code == 400
    assert [wrong["field"] for wrong in answer.json()["error"]["errors"]] == ["webhook_url"]


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, ["tracking_number", "webhook_url"]),
        ({"tracking_number": 5, "webhook_url": None}, ["tracking_number", "webhook_url"]),
        ({"tracking_number": "", "webhook_url": "https://x.mx"}, ["tracking_number"]),
        ({"tracking_number": "x" * 101, "webhook_url": "https://x.mx"}, ["tracking_number"]),
        ({"tracking_number": "x", "webhook_url": "https://x.mx", "type": 1}, ["type"]),
    ],
)
def test_refuses_a_wrong_body_by_its_fields(
    api: APIClient, body: dict[str, Any], fields: list[str]
) -> None:
    answer = api.post(PATH, body)

    assert answer.status_code == 400
    assert answer.json()["meta"] == "error"
    assert [wrong["field"] for wrong in answer.json()["error"]["errors"]] == fields


@pytest.mark.usefixtures("one_minute")
def test_has_the_tightest_rate_limit(
    api: APIClient, listening: Receiver, settings: Settings
) -> None:
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, "send": 1}

    body = {"tracking_number": "x", "webhook_url": listening.url}
    first, second = api.post(PATH, body), api.post(PATH, body)

    assert (first.status_code, second.status_code) == (200, 429)
    assert second.json()["error"]["code"] == 429
    assert len(listening.requests) == 1
