"""The corpus of bad inputs, sent to every operation in GET /schema.

Each operation gets a share of it, a different one from its neighbours'; BAD_INPUTS=all sends all.
"""

import json
import os
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from django.db import transaction
from pytest_django import Settings

from tests.corpora import BadInput, bad_inputs
from tests.corpora.checks import send_raw
from tests.described import Operation, code_of, description, operations, schema
from tests.test_error_codes import EXPLAINED
from tests.test_openapi import Stock, stock
from tests.webhooks.test_doors import DOORS

__all__ = ["stock"]

ROWS = bad_inputs()
ALL = os.environ.get("BAD_INPUTS") == "all"
SHARE = 1 if ALL else 24
JSON = "application/json"
# Replacements for each member of a body, as JSON text.
VALUES = [
    "null",
    "true",
    "0",
    "-1",
    "5.5",
    "1e400",
    str(2**63),
    "[]",
    "{}",
    "[[]]",
    '[{"a":1}]',
    '""',
    '" "',
    '"\\u0000"',
    '"\\ud800"',
    '"\\u202e\\u200b"',
    '"2026-02-30"',
    '"0001-01-01"',
    '"2026-01-01T00:00:00+23:59"',
    '"9999-12-31T23:59:59-15:59"',
    f'"{"x" * 70_000}"',
    '"{"',
]
# Replacements for each query's value, as they stand in the address.
QUERIES = [
    "",
    "%00",
    "%FF",
    "null",
    "-1",
    "0",
    "1e9",
    "9" * 30,
    "%D9%A1",
    "true",
    "2026-02-30",
    "0001-01-01T00:00:00%2B15:59",
    "9999-12-31T23:59:59-15:59",
    "a,b",
    "1,1,,",
    "'",
    "x" * 5000,
]
PATHS = sorted(
    {row.path.split("/")[3] for row in ROWS if row.id in {f"B{n}" for n in range(128, 147)}}
)


def body_schema(operation: Operation) -> dict[str, Any]:
    """Return the members that its body may have."""
    name = schema(operation.spec["requestBody"])["$ref"].rpartition("/")[2]
    return description()["components"]["schemas"][name].get("properties", {})


def requests(operation: Operation, path: str, token: str) -> Iterator[BadInput]:
    """Yield everything that is sent to one operation; `path` has existing ids."""
    method = operation.method.upper()
    (good, *_) = operation.bodies() or [None]
    base_headers = {"Authorization": f"Bearer {token}"}
    if operation.takes_body:
        base_headers["Content-Type"] = JSON

    def request(name: str, **changes: Any) -> BadInput:
        body = b"" if good is None else json.dumps(good).encode()
        base = BadInput(name, method, path, base_headers, body, (), "", None)
        return base._replace(**changes)

    for row in ROWS:
        if "Authorization" in row.headers and row.path == "/webhooks" and row.method == "GET":
            value = row.headers["Authorization"].replace("{TOKEN}", token)
            if value != base_headers["Authorization"]:
                yield request(row.id, headers={**base_headers, "Authorization": value})
    for name in path_names(operation):
        for value in PATHS:
            other = operation.path.replace(f"{{{name}}}", value)
            yield request(f"{name} {value[:40]}", path=fill(other, path, operation))
    for value in QUERIES:
        for name in [*query_names(operation), "colour"]:
            yield request(f"{name}={value[:40]}", path=f"{path}?{name}={value}")
            yield request(f"{name} twice", path=f"{path}?{name}={value}&{name}={value}")
    if not operation.takes_body:
        return
    for row in ROWS:
        # The two rows of megabytes are sent only if all rows are.
        opens = (row.method, row.path) == ("POST", "/company/tickets")
        if opens and (ALL or len(row.body) < 100_000):
            headers = {**base_headers, "Content-Type": row.headers.get("Content-Type", JSON)}
            yield request(row.id, headers=headers, body=row.body)
    for name in body_schema(operation):
        for value in VALUES:
            rest = {key: each for key, each in (good or {}).items() if key != name}
            text = json.dumps({**rest, name: "?"}).replace('"?"', value)
            yield request(f"{name}: {value[:40]}", body=text.encode())


def query_names(operation: Operation) -> list[str]:
    return [one["name"] for one in operation.spec.get("parameters", []) if one["in"] == "query"]


def path_names(operation: Operation) -> list[str]:
    return [one["name"] for one in operation.spec.get("parameters", []) if one["in"] == "path"]


def fill(other: str, path: str, operation: Operation) -> str:
    """Replace the ids of a path; its second id stays if both cannot be replaced."""
    pairs = zip(operation.path.split("/"), path.split("/"), strict=True)
    values = {part: value for part, value in pairs if part.startswith("{")}
    return "/".join(values.get(part, part) for part in other.split("/"))


@pytest.mark.parametrize(
    ("number", "operation"),
    [pytest.param(number, each, id=str(each)) for number, each in enumerate(operations())],
)
def test_no_bad_input_breaks_an_operation(
    stock: Stock, number: int, operation: Operation, settings: Settings
) -> None:
    settings.RATE_LIMITS = dict.fromkeys(settings.RATE_LIMITS, 10**9)
    # Requests that an operation sends reach nobody.
    settings.DELIVERY_TIMEOUT_SECONDS = 0.01
    ids = stock.ids["acme"]
    parameters = {name: quote(str(id)) for name, id in (ids | ids.get(str(operation), {})).items()}
    path = operation.path.format(**parameters)
    token = stock.api._credentials["HTTP_AUTHORIZATION"].removeprefix("Bearer ")
    wrong = []

    for place, row in enumerate(requests(operation, path, token)):
        if place % SHARE != number % SHARE:
            continue
        with transaction.atomic():
            answer = send_raw(row)
            transaction.set_rollback(True)
        content = answer.json() if answer["Content-Type"] == JSON else None
        fine = answer.status_code < 500 and content is not None and "X-Request-Id" in answer
        if not fine or (answer.status_code >= 400 and code_of(content) not in EXPLAINED):
            wrong.append((row.id, answer.status_code, answer.content[:200]))

    assert wrong == []


def test_every_url_of_a_body_is_one_that_the_corpus_of_targets_is_sent_to() -> None:
    url_members = {
        (str(operation), name)
        for operation in operations()
        if operation.takes_body
        for name, member in body_schema(operation).items()
        if member.get("format") == "uri"
    }

    assert url_members == DOORS
