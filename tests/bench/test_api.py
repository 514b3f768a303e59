"""The API compared with plain views in this process: what is measured and what is reported."""

import time

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings
from rest_framework.test import APIClient

from tickets.models import Ticket
from tools.bench.api_rows import TICKETS, World, make_world
from tools.bench.callers import Question
from tools.bench.outcome import aligned
from tools.bench.plain_api.models import PlainTicket
from tools.bench.scenarios import api


@pytest.fixture
def world(db: None, settings: Settings) -> World:
    settings.ROOT_URLCONF = "tools.bench.plain_api.urls"
    return make_world(shipments=20)


@pytest.fixture
def client(world: World) -> APIClient:
    client = APIClient()
    client.default_format = "json"
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {world.token}")
    return client


def ask(client: APIClient, question: Question, number: int) -> dict:
    body = {} if question.body is None else {"data": question.body(number)}
    answer = getattr(client, question.method.lower())(question.path, **body)
    assert answer.status_code < 300, answer.content
    return answer.json()


@pytest.mark.slow
def test_both_do_the_same_and_each_is_told(world: World, client: APIClient) -> None:
    def used() -> dict[str, float]:
        return {"web": time.process_time(), "postgres": 0.0}

    rows = api.compare(
        world, api.pairs(world), lambda *what: ask(client, *what), used, rounds=2, requests=3
    )

    assert PlainTicket.objects.count() == Ticket.objects.count() - TICKETS == 2 * 3 + 1
    assert [row["words"][:4].strip() for row in rows] == ["POST", "GET", "GET", "GET"]
    assert min(row["ratio"] for row in rows) > 0
    storm = {"processes": 2, "tickets_per_s": 90.0, "ms": {"p50": 9.0, "p99": 12.5}}
    storm["cpu_s_per_1000"] = {"web": 4.0, "postgres": 1.25}
    assert "p99 12.5 ms" in aligned(api.table(rows, [storm]))


def test_both_read_the_same_rows_with_as_many_statements(world: World, client: APIClient) -> None:
    for pair in api.pairs(world)[1:]:
        answers, statements = [], []
        for question in (pair.ours, pair.plain):
            with CaptureQueriesContext(connection) as captured:
                answer = ask(client, question, 1)
            answers.append(rows_of(answer))
            statements.append(len(captured))
        ours, plain = ([each["id"] for each in rows] for rows in answers)
        assert ours == plain
        assert abs(statements[0] - statements[1]) <= 2


def rows_of(answer: list[dict] | dict) -> list[dict]:
    if isinstance(answer, list):
        return answer
    if "results" in answer:
        return answer["results"]
    return [answer] if "id" in answer else answer["data"]
