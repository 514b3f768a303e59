"""Log lines of attempts: each failure has one, within a bound that disks can take."""

import logging
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from pytest_django import Settings

from companies.models import Company
from core.watch import log_bound, request_ids
from deliveries import publishing
from deliveries.engine.recording import FAILURES_BEFORE_REST
from deliveries.models import Delivery, Event
from tests import builders as build
from tests.sending import deliver, make_due
from tools.faults.receiver import Answer, Receiver
from webhooks.models import Webhook
from webhooks.targets import Policy

OWN = "order-7"


@pytest.fixture(autouse=True)
def bound(monkeypatch: pytest.MonkeyPatch) -> Iterator[log_bound.LogBound]:
    """Replace the bound by a new loop's, whose clock stands still."""
    bound = log_bound.ATTEMPTS
    monkeypatch.setattr(bound, "clock", lambda: bound.since, raising=False)
    bound.since, bound.lines = 0.0, 0
    yield bound
    bound.left_out.clear()


@pytest.fixture
def attempt_log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.DEBUG, log_bound.ATTEMPTS.logger.name)
    return caplog


def lines(attempt_log: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    return [
        (each.levelname, each.getMessage())
        for each in attempt_log.records
        if each.name == log_bound.ATTEMPTS.logger.name
    ]


def failing(company: Company, receiver: Receiver, status: int = 500) -> Webhook:
    receiver.answer = lambda _: Answer(status=status)
    return build.webhook(company, url=f"{receiver.url}/in?key=hidden")


def test_a_failed_attempt_has_a_line(
    company: Company, receiver: Receiver, loopback: Policy, attempt_log: pytest.LogCaptureFixture
) -> None:
    webhook = failing(company, receiver)
    with request_ids.request_scope(OWN):
        publishing.publish([build.news(company)])

    deliver(loopback)

    (line,) = [each for each in attempt_log.records if each.name == log_bound.ATTEMPTS.logger.name]
    facts: dict[str, Any] = line.__dict__
    delivery = Delivery.objects.get()
    assert UUID(facts["delivery_id"]) == delivery.pk
    assert facts["event_id"] == Event.objects.get().pk
    assert (facts["company_id"], facts["webhook_id"]) == (company.pk, webhook.pk)
    assert (facts["request_id"], facts["attempt"], facts["outcome"]) == (OWN, 1, "retry")
    assert (facts["status"], facts["error"], facts["retry_in_seconds"]) == (500, None, 5)
    assert facts["host"] == receiver.url.partition("//")[2]
    assert line.levelno == logging.INFO
    assert "hidden" not in line.getMessage()
    assert f"{delivery.pk} to webhook {webhook.pk}" in line.getMessage()
    assert line.getMessage().endswith("; again in 5 s")


def test_the_last_one_is_a_warning(
    company: Company,
    receiver: Receiver,
    loopback: Policy,
    settings: Settings,
    attempt_log: pytest.LogCaptureFixture,
) -> None:
    settings.DELIVERY_RETRY_SECONDS = (1.0,)
    failing(company, receiver)
    publishing.publish([build.news(company)])

    deliver(loopback)
    make_due()
    deliver(loopback)

    assert [level for level, _ in lines(attempt_log)] == ["INFO", "WARNING"]
    assert lines(attempt_log)[-1][1].endswith("; given up")
    assert "attempt 2: answered 500" in lines(attempt_log)[-1][1]


@pytest.mark.parametrize(("which", "count"), [("failed", 1), ("all", 2), ("none", 0)])
def test_setting_chooses_the_logged_attempts(
    company: Company,
    receiver: Receiver,
    loopback: Policy,
    settings: Settings,
    attempt_log: pytest.LogCaptureFixture,
    which: str,
    count: int,
) -> None:
    settings.LOG_ATTEMPTS = which
    failing(company, receiver)
    publishing.publish([build.news(company)])
    deliver(loopback)
    receiver.answer = lambda _: Answer()
    make_due()

    deliver(loopback)

    assert [text for _, text in lines(attempt_log) if text.startswith("delivery")] == [
        text for _, text in lines(attempt_log)
    ]
    assert len(lines(attempt_log)) == count


def test_a_flood_is_bounded_and_counted(
    company: Company,
    receiver: Receiver,
    loopback: Policy,
    attempt_log: pytest.LogCaptureFixture,
    bound: log_bound.LogBound,
    monkeypatch: pytest.MonkeyPatch,
    settings: Settings,
) -> None:
    settings.DELIVERY_RETRY_SECONDS = (3600.0,)
    failing(company, receiver)
    more = log_bound.MOST_LINES + 30
    publishing.publish([build.news(company, each) for each in range(more)])

    deliver(loopback)

    assert len(lines(attempt_log)) == log_bound.MOST_LINES
    # The period ends, and with it the silence, even without a further failure.
    monkeypatch.setattr(bound, "clock", lambda: log_bound.WHILE_SECONDS)
    deliver(loopback)
    level, text = lines(attempt_log)[-1]
    assert level == "WARNING"
    assert text == "30 more lines were left out in 10 s: 30 answered 500"
    assert len(lines(attempt_log)) == log_bound.MOST_LINES + 1


def test_a_webhook_that_rests_and_one_that_is_mended_have_a_line_once(
    company: Company, receiver: Receiver, loopback: Policy, attempt_log: pytest.LogCaptureFixture
) -> None:
    dead = build.webhook(company, url="http://127.0.0.1:9/")
    publishing.publish([build.news(company)])
    for _ in range(FAILURES_BEFORE_REST + 2):
        deliver(loopback)
        make_due()
    Webhook.objects.filter(pk=dead.pk).update(url=receiver.url)
    deliver(loopback)

    lines_of_webhook = [each for each in lines(attempt_log) if each[1].startswith("webhook")]
    assert lines_of_webhook == [
        ("WARNING", f"webhook {dead.pk} rests: its requests get no answer"),
        ("INFO", f"webhook {dead.pk} is well again"),
    ]
