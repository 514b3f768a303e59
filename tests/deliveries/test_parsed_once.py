"""psycopg parses a short statement once, but a long one at each execution."""

import importlib
import pkgutil
from collections.abc import Iterator

import pytest
from psycopg import _queries

import deliveries
from companies.models import Company
from core.data.statements import compact
from deliveries import publishing
from deliveries.engine import claiming, lanes, recording, rendering
from tests import builders as build
from tests.deliveries.test_recording import result
from tests.sending import claim, loop_id

BEGINNINGS = ("SELECT", "WITH", "INSERT", "UPDATE", "DELETE")


def statements() -> Iterator[tuple[str, str]]:
    for module in pkgutil.walk_packages(deliveries.__path__, "deliveries."):
        if ".migrations." not in module.name:
            for name, value in vars(importlib.import_module(module.name)).items():
                if isinstance(value, str) and value.strip().startswith(BEGINNINGS):
                    yield f"{module.name}.{name}", value


def test_every_statement_is_short_enough() -> None:
    texts = dict(statements())

    assert {claiming.CLAIM, lanes.TAKE, rendering.ADDRESSES} < set(texts.values())
    assert [
        name
        for name, text in texts.items()
        if len(compact(text)) > _queries.MAX_CACHED_STATEMENT_LENGTH
    ] == []


def test_statements_of_each_event_are_parsed_once(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    build.webhook(company)
    send_one(company, 1)
    monkeypatch.setattr(_queries, "_query2pg_nocache", refuse)
    before = _queries._query2pg.cache_info()

    send_one(company, 2)

    after = _queries._query2pg.cache_info()
    assert (after.misses, after.currsize) == (before.misses, before.currsize)
    assert after.hits >= before.hits + 4


def send_one(company: Company, number: int) -> None:
    publishing.publish([build.news(company, number)])
    lanes.take(loop_id(), 1)
    recording.record_attempts([result(each) for each in claim()])


def refuse(*_: object) -> None:
    raise AssertionError("a statement is parsed anew")
