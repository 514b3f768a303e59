"""An erasure waits for requests that were admitted earlier, and no longer than that."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils import timezone

from companies import erasing, services, under_way
from companies.models import ApiToken, Company
from tests import builders as build


def pauses_of(company: Company, monkeypatch: pytest.MonkeyPatch, then: Any = None) -> list[float]:
    """Wait as its erasure does; returns the pauses, which take no time. After each, call `then`."""
    pauses: list[float] = []
    passed = timedelta(0)
    monkeypatch.setattr(timezone, "now", lambda: datetime.now(UTC) + passed)

    def pause(seconds: float) -> None:
        nonlocal passed
        pauses.append(seconds)
        passed += timedelta(seconds=seconds)
        if then:
            then()

    under_way.wait_for_requests(
        company.pk, timezone.now(), timedelta(minutes=2), lambda text: None, pause
    )
    return pauses


def used(company: Company, seconds_ago: float) -> None:
    at = timezone.now() - timedelta(seconds=seconds_ago)
    services.issue_token(company.pk)
    ApiToken.objects.filter(company=company).update(last_used_at=at)


@contextmanager
def open_transaction() -> Iterator[BaseDatabaseWrapper]:
    other = connection.copy()
    try:
        other.set_autocommit(False)
        other.cursor().execute("SELECT 1")
        yield other
    finally:
        other.close()


@pytest.mark.parametrize(("ago", "seconds"), [(181, 0), (150, 30), (20, 120), (0, 120)])
def test_waits_as_long_as_a_request_may_be_under_way(
    ago: float, seconds: float, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Allow for the token's last use, which is recorded once a minute."""
    used(company, ago)
    used(build.company("Other"), 0)

    assert sum(pauses_of(company, monkeypatch)) == pytest.approx(seconds, abs=2)


def test_waits_for_a_transaction_that_began_before(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wait for it, such as a batch of the feed, which has read that the company is active."""
    pauses = iter(range(1, 9))

    with open_transaction() as other:
        naps = pauses_of(company, monkeypatch, lambda: next(pauses) == 2 and other.rollback())

    assert len(naps) == 2


def test_waits_two_minutes_at_most(company: Company, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_transaction():
        assert sum(pauses_of(company, monkeypatch)) == pytest.approx(120, abs=2)


def test_says_how_long_it_waits_also_without_a_terminal(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    used(company, 0)
    monkeypatch.setattr(erasing, "GRACE", timedelta(seconds=0.5))
    errors = StringIO()

    call_command(
        "erase_company", company.pk, confirm=company.name, stdout=StringIO(), stderr=errors
    )

    assert errors.getvalue().startswith("waiting for requests under way: 0 s at most\n")
