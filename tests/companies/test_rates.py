import pytest
from pytest_django import Settings
from rest_framework.test import APIClient

from companies.api import rates

pytestmark = pytest.mark.usefixtures("one_minute")


def test_says_on_every_answer_what_is_left(api: APIClient, settings: Settings) -> None:
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, "read": 10}

    left = [api.get(path)["RateLimit-Remaining"] for path in ("/webhooks", "/webhooks/1")]

    assert left == ["9", "8"]
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

    monkeypatch.setattr(rates.cache, "add", away, raising=False)
    monkeypatch.setattr(rates, "counter", rates.Counter())

    assert [api.get("/webhooks").status_code for _ in range(3)] == [200] * 3
    assert len(calls) == 1, "a cache that is away is not asked at every request"
