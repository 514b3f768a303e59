"""Requests that GET /schema rules out are refused by the service, and those that it allows are not.

A client generated from it then sends fewer invalid requests.
"""

from base64 import b64encode
from typing import Any
from urllib.parse import quote

import pytest
from jsonschema import Draft202012Validator
from rest_framework.test import APIClient

from companies.models import Company
from tests import builders as build
from tests.described import Operation, description, operation, operations
from tests.files import picture
from tests.test_openapi import Stock, stock

__all__ = ["stock"]

A_URL = "https://hooks.example.com/in?a=b"
ID = "9" * 18
IMAGE = b64encode(picture()).decode()
QUERIES: list[tuple[str, str, str, bool]] = [
    *(("listTickets", name, value, False) for name in ("status", "type") for value in ("0", "1,0")),
    ("listTickets", "ticket_status_id", "9000", False),
    ("listTickets", "ticket_status_id", "1,5,10", True),
    ("listTickets", "status", ",".join(["1"] * 51), False),
    ("listTickets", "ticket_type_id", ID, True),
    ("listTickets", "ticket_type_id", ",".join([ID] * 50), True),
    ("listTickets", "cursor", "0", False),
    ("listTickets", "cursor", "next", False),
    ("listComments", "cursor", "1-1", False),
    ("listComments", "cursor", "1", True),
    ("listWebhooks", "cursor", "1-1", False),
    ("listWebhooks", "cursor", ID, True),
    ("listDeliveries", "cursor", "1", False),
    ("listEvents", "after", "1", False),
    ("listTickets", "updated_since", "2026-01-02T00:00:00+16:00", False),
    ("listTickets", "updated_since", "2026-01-02T00:00:00.5-15:59", True),
    ("listDeliveries", "until", "2026-01-02T00:00:00Z", True),
]
BODIES: list[tuple[str, dict[str, Any], bool]] = [
    ("changeWebhook", {}, False),
    ("changeWebhook", {"active": 1}, True),
    *(
        ("changeWebhook", {"url": url}, False)
        for url in (
            "",
            "nonsense",
            "http://hooks.example.com/in",
            "https://",
            "https://me@hooks.example.com/",
            "https://hooks.example.com/#here",
            "https://hooks.example.com/a b",
            "https://hooks.example.com/ñ",
            "https://hooks.%65xample.com/",
        )
    ),
    ("changeWebhook", {"url": A_URL}, True),
    ("changeWebhook", {"url": "https://hooks.example.com"}, True),
    ("changeWebhook", {"auth_token": "a b"}, False),
    ("changeWebhook", {"auth_token": "a~b"}, True),
    ("registerWebhook", {"url": "https://other.example.com:8443/é"}, False),
    ("registerWebhook", {"url": "https://other.example.com:8443?a"}, True),
    ("testWebhook", {"tracking_number": "A", "webhook_url": "ftp://hooks.example.com"}, False),
    ("openTicket", {"type_id": 2, "data": "[]"}, False),
    ("openTicket", {"type_id": 2, "data": '\n {"a": 1}'}, True),
    ("openTicket", {"type_id": 2, "documents": [{"field_id": "a"}] * 101}, False),
    ("addFile", {"name": "a.png", "content_base64": "é"}, False),
    ("addFile", {"name": "a.png", "content_base64": "abcde"}, False),
    ("addFile", {"name": "a.png", "content_base64": " \n"}, False),
    ("attachEvidence", {"files": [1], "requested_document": 2**63}, False),
    (
        "addFile",
        {"name": "a.png", "content_base64": f"{IMAGE[:40]}\r\n{IMAGE[40:]}"},
        True,
    ),
]


@pytest.fixture
def ids(company: Company) -> dict[str, int]:
    return {"ticket_id": build.ticket(company).pk, "webhook_id": build.webhook(company).pk}


def allows(schema: dict[str, Any], value: Any) -> bool:
    whole = {**schema, "components": description()["components"]}
    return Draft202012Validator(whole).is_valid(value)


@pytest.mark.parametrize(("name", "parameter", "value", "allowed"), QUERIES)
def test_a_query_is_taken_if_the_description_allows_it(
    api: APIClient, ids: dict[str, int], name: str, parameter: str, value: str, allowed: bool
) -> None:
    described = operation(name)
    (spec,) = [each for each in described.spec["parameters"] if each["name"] == parameter]

    answer = api.get(f"{described.path.format(**ids)}?{parameter}={quote(value)}")

    assert allows(spec["schema"], value) is allowed
    assert (answer.status_code == 200) is allowed, answer.json()


@pytest.mark.parametrize(("name", "body", "allowed"), BODIES)
def test_a_body_is_taken_if_the_description_allows_it(
    api: APIClient, ids: dict[str, int], name: str, body: dict[str, Any], allowed: bool
) -> None:
    described = operation(name)
    schema = described.spec["requestBody"]["content"]["application/json"]["schema"]

    answer = getattr(api, described.method)(described.path.format(**ids), body)

    assert allows(schema, body) is allowed
    assert (answer.status_code == 200) is allowed, answer.json()


@pytest.mark.parametrize(
    "target", [pytest.param(each, id=str(each)) for each in operations() if each.takes_body]
)
def test_a_body_is_needed_if_the_description_says_so(stock: Stock, target: Operation) -> None:
    answer = stock.send(target)

    needed = target.spec["requestBody"].get("required", False)
    assert (answer.status_code in (400, 415)) is needed, answer.json()


def test_every_pattern_is_one_of_javascript_too() -> None:
    """Compile it strictly: with the flag `u` a meaningless escape is an error."""
    escapes = [
        pattern[place + 1]
        for pattern in patterns(description())
        for place, sign in enumerate(pattern)
        if sign == "\\" and (place == 0 or pattern[place - 1] != "\\")
    ]

    assert escapes
    assert set(escapes) <= set("^$\\.*+?()[]{}|/dDwWsSbBtrnvf")


def patterns(part: Any) -> list[str]:
    if isinstance(part, list):
        return [each for one in part for each in patterns(one)]
    if not isinstance(part, dict):
        return []
    own = [part["pattern"]] if isinstance(part.get("pattern"), str) else []
    return own + [each for one in part.values() for each in patterns(one)]
