"""Every refusal has a code for programs, and docs/errors.md explains every code (decision N11)."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from rest_framework.test import APIClient

from companies.models import Company
from config.error_bodies import STATUS_CODES
from config.errors import FIELD_CODES, WRONG_FIELDS
from tests import builders as build
from tests.described import Operation, code_of, description, examples, operations
from tests.test_architecture import LINE, ROOT, sources
from tickets.statuses import Status, joined

PAGE = (ROOT / "docs" / "errors.md").read_text()
ROWS = re.findall(r"^\| (`.*?`) \|", PAGE, re.MULTILINE)
EXPLAINED = [code for row in ROWS for code in re.findall(r"`(\w+)`", row)]
# The desk answers people, who read messages.
APPS = [app for app in LINE if app != "desk"]
# Codes of REST framework's field errors that we use with the same word.
THE_SAME = {"required", "blank", "invalid_choice"}


def codes(path: Path) -> Iterator[ast.expr]:
    """Yield the expressions that a module passes as `code=`."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            yield from (word.value for word in node.keywords if word.arg == "code")


# The forms of the company's page do so too.
FOR_PROGRAMS = [
    path
    for app in APPS
    for path in sources(app)
    if app != "portal" or path.name in ("access.py", "api.py")
]
CODES = {str(path.relative_to(ROOT)): [*codes(path)] for path in FOR_PROGRAMS}


def test_every_code_is_explained_and_none_that_is_not_used() -> None:
    stated = {code.value for expressions in CODES.values() for code in expressions if is_word(code)}

    used = stated | {*STATUS_CODES.values(), *FIELD_CODES.values(), WRONG_FIELDS} | THE_SAME
    assert set(EXPLAINED) == used
    assert all(re.fullmatch("[a-z]+(_[a-z]+)*", code) for code in used)


def is_word(code: ast.expr) -> bool:
    return isinstance(code, ast.Constant)


def test_a_code_is_written_out_where_it_is_stated() -> None:
    """Require a literal, or the test above would miss it. An exception may pass on its own code."""
    wrong = [
        f"{path}:{code.lineno}"
        for path, expressions in CODES.items()
        for code in expressions
        if isinstance(code, ast.JoinedStr | ast.BinOp | ast.IfExp | ast.Subscript)
    ]
    assert wrong == []


def test_no_wrong_field_is_left_without_a_code() -> None:
    """Require one: REST framework would use "invalid", which means a wrong type."""
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for app in APPS
        for path in sources(app)
        if "api" in path.relative_to(ROOT).parts
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).endswith("ValidationError")
        # Details that are collected already come as a dictionary.
        and isinstance(node.args[0], ast.Constant | ast.JoinedStr | ast.Call)
        and not any(word.arg == "code" for word in node.keywords)
    ]
    assert wrong == []


@pytest.mark.parametrize("operation", [pytest.param(each, id=str(each)) for each in operations()])
def test_each_described_refusal_shows_its_codes(operation: Operation) -> None:
    for status, response in operation.refusals.items():
        words = {code_of(example) for example in examples(response).values()}

        assert words, (status, "shows no code")
        assert words <= set(EXPLAINED)
        assert words == set(re.findall(r"^- `(\w+)`", response["description"], re.MULTILINE))


def test_three_refusals_of_one_status_differ_by_their_codes(
    api: APIClient, company: Company
) -> None:
    pending = build.ticket(company)
    decided = build.ticket(company, type_id=2, status=Status.DECLINED)
    api.post(f"/tickets/ratings/{decided.pk}", {"rating": 5})

    answers = [
        api.post(f"/tickets/ratings/{pending.pk}", {"rating": 5}),
        api.post(f"/tickets/ratings/{decided.pk}", {"rating": 5}),
        api.post(f"/company/tickets/{decided.pk}/comments", {"comment": "Why?"}),
    ]

    assert [answer.status_code for answer in answers] == [422, 422, 422]
    codes = [answer.json()["code"] for answer in answers]
    assert codes == ["ticket_not_decided", "already_rated", "ticket_closed"]


def test_every_wrong_field_has_its_code(api: APIClient) -> None:
    document = {"field_id": "x" * 51, "type": "picture", "value": None}
    answer = api.post(
        "/company/tickets",
        {
            "coments": "",
            "type_id": None,
            "shipment_id": "5",
            "credit_id": 0,
            "carrier_id": 2**63,
            "data": {"content": "lamp"},
            "warehouse_package_id": "x" * 256,
            "documents": [document, {"type": "date", "field_id": " "}, "x"],
        },
    )

    assert answer.json()["code"] == "invalid_request"
    assert {one["field"]: one["code"] for one in answer.json()["errors"]} == {
        "coments": "unknown_field",
        "type_id": "not_null",
        "shipment_id": "wrong_type",
        "credit_id": "too_small",
        "carrier_id": "too_large",
        "data": "wrong_type",
        "warehouse_package_id": "too_long",
        "documents[0].field_id": "too_long",
        "documents[0].type": "invalid_choice",
        "documents[1].field_id": "blank",
        "documents[2]": "wrong_type",
    }


@pytest.mark.parametrize(
    ("data", "code", "says"),
    [
        ({"a": 1}, "wrong_type", 'Send a JSON object as a string, such as "{\\"content\\"'),
        ("[1]", "wrong_type", "Send a JSON object as a string"),
        ("{", "invalid_json", "This is not valid JSON: "),
        ("", "blank", "Send a JSON object as a string"),
    ],
)
def test_errors_in_data_have_json_codes(api: APIClient, data: object, code: str, says: str) -> None:
    answer = api.post("/company/tickets", {"type_id": 2, "data": data})

    (wrong,) = answer.json()["errors"]
    assert (wrong["field"], wrong["code"]) == ("data", code)
    assert wrong["message"].startswith(says)


@pytest.mark.parametrize(
    ("path", "choices"),
    [
        ("/webhooks/{webhook}/deliveries?state=failed", "waiting, delivered, given_up, cancelled"),
        ("/company/tickets?status=9000", joined(sorted(Status), "or")),
        ("/company/tickets?status_group=old", "active, resolved"),
    ],
)
def test_a_wrong_choice_lists_those_there_are(
    api: APIClient, company: Company, path: str, choices: str
) -> None:
    answer = api.get(path.format(webhook=build.webhook(company).pk))

    (wrong,) = answer.json()["errors"]
    assert wrong["code"] == "invalid_choice"
    assert choices in wrong["message"]


def test_an_unknown_webhook_type_lists_those_there_are(api: APIClient) -> None:
    answer = api.post("/webhooks", {"type_id": 99, "url": "https://hooks.example.com/in"})

    (wrong,) = answer.json()["errors"]
    assert (wrong["field"], wrong["code"]) == ("type_id", "invalid_choice")
    assert "1, 2, 3, 4, 5" in wrong["message"]


def test_under_ship_the_number_stays_and_the_word_is_the_reason(api: APIClient) -> None:
    error = api.post("/ship/generaltrack/", {"trackingNumbers": []}).json()["error"]

    assert (error["code"], error["reason"]) == (400, "invalid_request")
    assert error["errors"][0]["code"] == "too_short"


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("get", "/nowhere", 404, "not_found"),
        ("get", "/company/tickets/1", 404, "not_found"),
        ("patch", "/webhooks", 405, "method_not_allowed"),
    ],
)
def test_what_the_framework_refuses_has_a_code_too(
    api: APIClient, method: str, path: str, status: int, code: str
) -> None:
    answer = getattr(api, method)(path)

    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_no_token_and_a_wrong_one_are_two_codes(company: Company) -> None:
    wrong = {"Authorization": "Bearer live_0000"}
    answers = [APIClient().get("/webhooks"), APIClient().get("/webhooks", headers=wrong)]

    assert [answer.json()["code"] for answer in answers] == ["not_authenticated", "invalid_token"]


def test_the_description_tells_of_the_code_in_each_shape_of_error() -> None:
    shapes = description()["components"]["schemas"]

    for name in ("Error", "InvalidRequest", "FieldError"):
        assert "code" in shapes[name]["required"]
    assert {"code", "reason"} <= {*shapes["ShippingErrorBody"]["required"]}
