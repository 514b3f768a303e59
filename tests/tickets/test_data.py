from typing import Any

import pytest
from rest_framework.test import APIClient

from companies.models import Company
from tests import builders as build
from tickets.models import HistoryEntry, Ticket

DEEP = '{"a":' * 20 + "1" + "}" * 20
TOO_DEEP = '{"a":' * 21 + "1" + "}" * 21
BAD = {
    "nothing": "",
    "not JSON": "{a:1}",
    "an array": "[1]",
    "a string": '"x"',
    "null": "null",
    "NaN": '{"a":NaN}',
    "infinity": '{"a":-Infinity}',
    "an overflow": '{"a":1e400}',
    "NUL in a value": '{"a":"\\u0000"}',
    "NUL in a key": '{"\\u0000":1}',
    "half a surrogate pair": '{"a":"\\ud800"}',
    "half a pair deep inside": '{"a":[{"b":"\\udc00"}]}',
    "a key twice": '{"a":1,"a":2}',
    "two documents": '{"a":1}{"b":2}',
    "too deep": TOO_DEEP,
    "far too deep": '{"a":' + "[" * 7000 + "]" * 7000 + "}",
    "too long": '{"a":"' + "x" * 65536 + '"}',
    "a number too long": '{"a":' + "9" * 5000 + "}",
    "an object": {"a": 1},
    "a number": 1,
    "a boolean": True,
    "no value": None,
}
# Keys keep their order, numbers their digits, texts their escapes.
GOOD = ["{}", '{"z": 1, "a": 1.10, "b": "\\u00e9", "c": [{}]}', DEEP, '{"a":"😀"}']


@pytest.mark.parametrize("text", GOOD)
def test_keeps_the_text_of_the_variables_as_it_came(api: APIClient, text: str) -> None:
    answer = api.post("/company/tickets", {"type_id": 2, "data": text})

    assert Ticket.objects.get().data == text
    row = api.get(f"/company/tickets/{answer.json()['id']}").json()["data"][0]
    assert row["data"] == text


@pytest.mark.parametrize("value", BAD.values(), ids=BAD.keys())
def test_refuses_a_new_ticket_with_bad_variables(api: APIClient, value: Any) -> None:
    answer = api.post("/company/tickets", {"type_id": 2, "data": value})

    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == ["data"]
    assert not Ticket.objects.exists()


@pytest.mark.parametrize("value", BAD.values(), ids=BAD.keys())
def test_leaves_the_ticket_alone_when_the_new_variables_are_bad(
    api: APIClient, company: Company, value: Any
) -> None:
    ticket = build.ticket(company, status=6, data='{"a": 1}')

    answer = api.put(
        f"/company/tickets/{ticket.pk}",
        {"ticket_status_id": 5, "comments": "here it is", "data": value},
    )

    assert answer.status_code == 400
    ticket.refresh_from_db()
    assert (ticket.status, ticket.data, ticket.version) == (6, '{"a": 1}', 1)
    assert not ticket.conversation.exists()
    assert not ticket.history.exists()


def test_replaces_the_variables_whole_and_tells_history_what_changed(
    api: APIClient, company: Company
) -> None:
    ticket = build.ticket(company, status=4, data='{"a": 1, "b": 2, "c": {"d": 1}}')

    api.put(
        f"/company/tickets/{ticket.pk}",
        {"ticket_status_id": 5, "data": '{"b": 3, "c": {"d": 1}, "e": null}'},
    )

    ticket.refresh_from_db()
    assert ticket.data == '{"b": 3, "c": {"d": 1}, "e": null}'
    assert HistoryEntry.objects.get().data == {
        "variables": {"added": {"e": None}, "removed": {"a": 1}, "changed": {"b": [2, 3]}}
    }


def test_leaves_the_variables_when_none_are_sent(api: APIClient, company: Company) -> None:
    ticket = build.ticket(company, status=4, data='{"a": 1}')

    api.put(f"/company/tickets/{ticket.pk}", {"ticket_status_id": 5})

    ticket.refresh_from_db()
    assert (ticket.status, ticket.data) == (5, '{"a": 1}')
