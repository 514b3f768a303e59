import re
from datetime import timedelta
from types import SimpleNamespace

import pytest
from pytest_django import Settings
from rest_framework.test import APIClient

from companies.api import rates
from core.api import minute_counter
from core.values.times import whole_seconds
from tests.test_architecture import LINE, ROOT, sources

pytestmark = pytest.mark.usefixtures("one_minute")


def test_says_on_every_answer_what_is_left(api: APIClient, settings: Settings) -> None:
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, "read": 10}

    remaining = [api.get(path)["RateLimit-Remaining"] for path in ("/webhooks", "/webhooks/1")]

    assert remaining == ["9", "8"]
    answer = api.get("/webhooks")
    assert answer["RateLimit-Limit"] == "10"
    assert 1 <= int(answer["RateLimit-Reset"]) <= 60


def test_refuses_beyond_the_limit(api: APIClient, birch_api: APIClient, settings: Settings) -> None:
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, "read": 1}
    api.get("/webhooks")

    answer = api.get("/webhooks")

    assert answer.status_code == 429
    assert 1 <= int(answer["Retry-After"]) <= 60
    assert answer["RateLimit-Remaining"] == "0"
    assert birch_api.get("/webhooks").status_code == 200
    assert api.put("/webhooks/1", {}).status_code == 404


@pytest.mark.parametrize("into_the_minute", [0.0, 18.5, 20.0, 59.999])
def test_asked_again_after_just_as_long_as_retry_after_says_it_answers(
    api: APIClient, settings: Settings, monkeypatch: pytest.MonkeyPatch, into_the_minute: float
) -> None:
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, "read": 1}
    start = rates.time.time() - 20 + into_the_minute
    monkeypatch.setattr(rates, "time", SimpleNamespace(time=lambda: start))
    api.get("/webhooks")

    refused = api.get("/webhooks")

    wait = int(refused["Retry-After"])
    assert (refused.status_code, refused["RateLimit-Reset"]) == (429, str(wait))
    monkeypatch.setattr(rates, "time", SimpleNamespace(time=lambda: start + wait))
    assert api.get("/webhooks").status_code == 200
    assert wait - 1 < 60 - into_the_minute <= wait


@pytest.mark.parametrize(
    ("wait", "seconds"),
    [(0, 1), (0.2, 1), (1, 1), (1.001, 2), (timedelta(days=1), 86400), (timedelta(0), 1)],
)
def test_a_wait_is_rounded_up(wait: float | timedelta, seconds: int) -> None:
    assert whole_seconds(wait) == seconds


def test_every_retry_after_that_is_computed_is_rounded_up_by_the_one_helper() -> None:
    computed = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for app in LINE
        for path in sources(app)
        for line in path.read_text().splitlines()
        if re.search(r'"Retry-After"\] = (?!str\(whole_seconds\()', line)
    ]
    assert computed == []


def test_reading_uses_up_no_writes(api: APIClient, settings: Settings) -> None:
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, "read": 1, "write": 1}
    api.get("/webhooks")

    assert api.put("/webhooks/1", {}).status_code == 404
    assert api.put("/webhooks/1", {}).status_code == 429


def test_refuses_nothing_while_the_cache_is_away(
    api: APIClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, "read": 1}
    calls = []

    def away(*_: object, **__: object) -> None:
        calls.append(1)
        raise ConnectionError

    monkeypatch.setattr(minute_counter.cache, "add", away, raising=False)
    monkeypatch.setattr(rates, "counter", minute_counter.Counter())

    assert [api.get("/webhooks").status_code for _ in range(3)] == [200] * 3
    assert len(calls) == 1, "a cache that is away is not asked at every request"
