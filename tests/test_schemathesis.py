"""Every operation, with requests that its description allows and others: see ./dev schemathesis.

Requests are generated from GET /schema, so new operations are included. Everything that they
write is rolled back, and nothing leaves the machine. Refusals of allowed requests must be in
docs/schema-limits.md.
"""

import gzip
import os
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import schemathesis
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, Phase, given, seed
from hypothesis import settings as examples
from pytest_django import Settings
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.core.transport import Response
from schemathesis.generation import GenerationMode
from schemathesis.generation.case import Case
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    positive_data_acceptance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.described import Operation, operations
from tests.schema_limits import limits, unlisted
from tests.test_openapi import Stock, stock

__all__ = ["stock"]

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
# Number for each operation, mode and kind of ids.
EXAMPLES = int(os.environ.get("SCHEMATHESIS_EXAMPLES", "2"))
SEED = int(os.environ.get("SCHEMATHESIS_SEED", "1"))
# `./dev test --whole` runs this many examples with each seed.
SEEDS, WHOLE_EXAMPLES = (7101, 20261125, 31337, 88001, 555), 6


def several(most: int) -> Any:
    return examples(
        max_examples=most,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


@cache
def described() -> dict[str, APIOperation]:
    """Return operations by id, loaded through the application, which also answers the cases."""
    loaded = schemathesis.openapi.from_wsgi("/schema", WSGIHandler())
    return {one.ok().definition.raw["operationId"]: one.ok() for one in loaded.get_all_operations()}


@pytest.fixture(autouse=True)
def one_connection() -> Iterator[None]:
    """Keep the connection of the test's transaction: Django closes old ones around a request."""
    around = (request_started, request_finished)
    for signal in around:
        signal.disconnect(close_old_connections)
    yield
    for signal in around:
        signal.connect(close_old_connections)


def unpack(response: Response) -> None:
    """Decompress a body as every HTTP client does; the client of WSGI applications does not."""
    coding = response.headers.get("content-encoding", [])
    assert coding in ([], ["gzip"])
    if coding:
        assert response.headers["content-length"] == [str(len(response.content))]
        response.content = gzip.decompress(response.content)


def refused_in_vain(operation: Operation, case: Case, response: Response) -> set[str]:
    """Return the codes of a refusal of an allowed request, unless they are listed."""
    try:
        case.validate_response(response, checks=[positive_data_acceptance])
    except FailureGroup:
        return unlisted(str(operation), response.status_code, response.json())
    return set()


EVERY = pytest.mark.parametrize(
    "operation", [pytest.param(each, id=str(each)) for each in operations()]
)


@EVERY
def test_no_request_finds_a_fault(stock: Stock, operation: Operation, settings: Settings) -> None:
    ask_with_seed(SEED, EXAMPLES, stock, operation, settings)


@pytest.mark.whole
@pytest.mark.parametrize("seed_number", SEEDS)
@EVERY
def test_no_seed_finds_a_fault(
    stock: Stock, operation: Operation, settings: Settings, seed_number: int
) -> None:
    ask_with_seed(seed_number, WHOLE_EXAMPLES, stock, operation, settings)


def test_the_page_names_operations_that_there_are() -> None:
    documented = {operation for limit in limits() for operation in limit.operations}

    assert limits()
    assert documented <= {str(each) for each in operations()}


def ask_with_seed(
    number: int, most: int, stock: Stock, operation: Operation, settings: Settings
) -> None:
    settings.RATE_LIMITS = dict.fromkeys(settings.RATE_LIMITS, 10**9)
    # Requests that an operation sends reach nobody.
    settings.DELIVERY_TIMEOUT_SECONDS = 0.01
    target = described()[str(operation)]
    token = stock.api._credentials["HTTP_AUTHORIZATION"]
    owned = stock.ids["acme"] | stock.ids["acme"].get(str(operation), {})
    names = {one.name for one in target.path_parameters}
    ids = {name: str(owned[name]) for name in names & owned.keys()}
    vain: dict[tuple[int, str], str] = {}

    def ask(case: Case) -> None:
        headers = {"Authorization": token}
        # Leave out a foreign Host, which is a 400 everywhere (tests/config/test_errors.py).
        for name in [name for name in case.headers or () if name.lower() == "host"]:
            del case.headers[name]
        # All its writes are rolled back.
        with transaction.atomic():
            response = case.call(headers=headers)
            transaction.set_rollback(True)
        unpack(response)
        case.validate_response(response, checks=CHECKS, headers=headers)
        for code in refused_in_vain(operation, case, response):
            vain[response.status_code, code] = case.as_curl_command()

    for mode in GenerationMode.POSITIVE, GenerationMode.NEGATIVE:
        # Use generated ids, and existing ones.
        for own in ({}, ids) if ids else ({},):
            cases = target.as_strategy(mode, **({"path_parameters": own} if own else {}))
            seed(number)(several(most)(given(case=cases)(ask)))()
    assert vain == {}
