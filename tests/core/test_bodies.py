"""Strict parsing of request bodies, shown on POST /webhooks (decisions E1 to E8)."""

import gc
import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, strategies
from rest_framework.test import APIClient

from core.api.strict_json import BadJSON, has_more_values, load_json
from tickets.models import Ticket
from webhooks.models import Webhook

URL = "https://hooks.example.com/in"


def post(api: APIClient, body: str | bytes, content_type: str = "application/json") -> tuple:
    answer = api.post("/webhooks", body, content_type=content_type)
    assert answer["Content-Type"] == "application/json"
    assert (answer.status_code == 200) == Webhook.objects.exists()
    return answer.status_code, answer.json()


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("{", "line 1 column 2"),
        ('{"url":"a","url":"b"}', "the key 'url' appears twice"),
        ('{"type_id":NaN}', "NaN is not a JSON number"),
        ('{"type_id":1e400}', "the number 1e400 is too large"),
        ('{"type_id":' + "9" * 5000 + "}", "a number is too long"),
        ('{"x":' + "[" * 60 + "]" * 60 + "}", "nested deeper than 50 levels"),
        ('{"x":' + "[" * 100_000, "nested deeper than 50 levels"),
        ('{"x":"\\u0000"}', "contains a NUL character"),
        ('{"x":"a\\u0000b"}', "contains a NUL character"),
        ('{"\\u0000":1}', "contains a NUL character"),
        ('{"x":["\\ud800"]}', "contains half of a surrogate pair"),
        (b'{"url":"\xc0\xaf"}', "is not UTF-8"),
        ("\ufeff{}", "line 1 column 1"),
    ],
)
def test_says_why_a_text_is_not_json(api: APIClient, body: str | bytes, says: str) -> None:
    status, answer = post(api, body)

    assert status == 400
    assert says in answer["message"]


def test_names_every_wrong_field_at_once(api: APIClient) -> None:
    status, answer = post(api, '{"type_id":"3","url":5,"active":true,"colour":"red"}')

    assert status == 400
    assert answer == {
        "statusCode": 400,
        "error": "Bad Request",
        "message": "colour: Unknown field. (and 3 more)",
        "code": "invalid_request",
        "errors": [
            {"field": "colour", "message": "Unknown field.", "code": "unknown_field"},
            {"field": "type_id", "message": "Send an integer.", "code": "wrong_type"},
            {"field": "url", "message": "Send a string.", "code": "wrong_type"},
            {"field": "active", "message": "Send 1 or 0.", "code": "invalid_choice"},
        ],
    }


@pytest.mark.parametrize("body", ["[]", "1", '"text"', "true"])
def test_takes_objects_only(api: APIClient, body: str) -> None:
    assert post(api, body)[0] == 400


@pytest.mark.parametrize("value", ["5.0", "true", '"1"', "2", "-1", "null", "[]", "{}"])
def test_takes_one_or_zero_for_active(api: APIClient, value: str) -> None:
    status, answer = post(api, f'{{"url":"{URL}","active":{value}}}')

    assert status == 400
    assert answer["errors"][0]["field"] == "active"


def test_refuses_other_media_types(api: APIClient) -> None:
    assert post(api, f'{{"url":"{URL}"}}', "text/plain")[0] == 415
    assert post(api, f"url={URL}", "application/x-www-form-urlencoded")[0] == 415


def test_takes_the_media_type_in_any_case(api: APIClient) -> None:
    assert post(api, f'{{"url":"{URL}"}}', "application/JSON; charset=utf-8")[0] == 200


def test_refuses_a_body_over_one_mebibyte(api: APIClient) -> None:
    status, answer = post(api, " " * 1024 * 1024 + "{}")

    assert status == 413
    assert answer["message"] == "The body is larger than 1 MiB."


@pytest.mark.parametrize("path", ["/nowhere", "/webhooks/0", "/webhooks/01", f"/webhooks/{2**63}"])
def test_answers_unknown_addresses_in_json(api: APIClient, path: str) -> None:
    answer = api.get(path)

    assert answer.status_code == 404
    assert answer.json()["statusCode"] == 404


def test_answers_ship_paths_in_their_own_shape(api: APIClient) -> None:
    answer = api.post("/ship/nowhere/", {})

    assert answer.status_code == 404
    assert answer.json()["meta"] == "error"
    assert answer.json()["error"]["code"] == 404


def test_refuses_other_methods_in_json(api: APIClient) -> None:
    answer = api.patch("/webhooks", {})

    assert answer.status_code == 405
    assert answer.json()["error"] == "Method Not Allowed"


def test_does_not_wait_for_a_body_that_is_announced_as_too_large(api: APIClient) -> None:
    answer = api.generic("POST", "/webhooks", b"{}", "application/json", CONTENT_LENGTH="9" * 20)

    assert answer.status_code == 413


def test_blank_required_text_counts_as_missing(api: APIClient) -> None:
    answer = api.post("/ship/webhooktest/", {"tracking_number": " ", "webhook_url": "\t"})

    assert [wrong["field"] for wrong in answer.json()["error"]["errors"]] == [
        "tracking_number",
        "webhook_url",
    ]


def nest(opening: str, closing: str, levels: int) -> str:
    return opening * levels + closing * levels


# Contents to fill a body with, by its size. Names that begin with "bad" are refused.
FILLED: dict[str, Callable[[int], str]] = {
    "bad: the last key a second time": lambda size: (
        "{" + "".join(f'"{n:06x}":1,' for n in range(size // 11)) + f'"{size // 11 - 1:06x}":1}}'
    ),
    "keys": lambda size: "{" + ",".join(f'"{n:06x}":1' for n in range(size // 11)) + "}",
    "bad: levels": lambda size: nest("[", "]", size // 2),
    "trees": lambda size: "[" + ",".join([nest("[", "]", 49)] * (size // 99)) + "]",
    "bad: one integer": lambda size: "9" * size,
    "integers": lambda size: "[" + ",".join(["9" * 4300] * (size // 4301)) + "]",
    "one fraction": lambda size: "0." + "9" * size,
    "one exponent": lambda size: "1e-" + "9" * size,
    "zeros": lambda size: "0." + "0" * size + "1",
    "numbers": lambda size: "[" + ",".join(["1.5"] * (size // 4)) + "]",
    "escapes": lambda size: '"' + "\\u00e9" * (size // 6) + '"',
    "pairs": lambda size: '"' + "\\ud83d\\ude00" * (size // 12) + '"',
    "bad: half a pair at the end": lambda size: '"' + "\\u00e9" * (size // 6) + '\\ud800"',
    "bad: a text that nothing closes": lambda size: (
        "[" + "1," * (size // 8) + '"' + '\\"' * (size // 4)
    ),
    "objects": lambda size: "[" + ",".join(["{}"] * (size // 3)) + "]",
}


def cpu_seconds(text: str, refused: bool) -> float:
    # Collection would walk through everything that the tests have loaded.
    gc.disable()
    start = time.process_time()
    try:
        # A limit that is not exceeded makes it read the whole text.
        has_more_values(text, text.count(","))
        load_json(text, deepest=50)
    except BadJSON:
        assert refused
    else:
        assert not refused
    finally:
        gc.enable()
    return time.process_time() - start


@pytest.mark.parametrize("name", FILLED)
def test_parsing_time_grows_no_faster_than_the_body(name: str) -> None:
    """Bound the growth: a quadratic reader would take 64 times as long."""
    small, large = FILLED[name](2**15), FILLED[name](2**18)
    refused = name.startswith("bad")

    # Times near zero are too noisy to compare.
    short = max(0.0005, min(cpu_seconds(small, refused) for _ in range(2)))
    # A busy machine only adds to a time: the minimum of several is the reader's own.
    tries = (cpu_seconds(large, refused) for _ in range(20))

    assert any(long / short < 40 for long in tries)


QUOTES = ['"', '\\"', "\\\\", ",", "[", "}", "x", "\\u0022,"]


@given(
    value=strategies.recursive(
        strategies.none() | strategies.lists(strategies.sampled_from(QUOTES)).map("".join),
        lambda inner: (
            strategies.lists(inner) | strategies.dictionaries(strategies.text(max_size=3), inner)
        ),
        max_leaves=30,
    )
)
def test_counts_values_whatever_their_texts_say(value: Any) -> None:
    text = json.dumps(value)

    def commas(part: Any) -> int:
        if not isinstance(part, list | dict):
            return 0
        inner = part.values() if isinstance(part, dict) else part
        return max(0, len(part) - 1) + sum(map(commas, inner))

    values = commas(value)
    assert has_more_values(text, values + 1) is False
    assert has_more_values(text, values) is True


def test_a_body_has_at_most_5000_values(api: APIClient) -> None:
    status, answer = post(api, '{"type_id":3,"url":"a","x":[' + "1," * 4998 + "1]}")
    assert status == 400
    assert answer["message"] == "The body is not valid JSON: it has more than 5000 values."

    status, answer = post(api, '{"type_id":3,"url":"a","x":[' + "1," * 4990 + "1]}")
    assert [each["field"] for each in answer["errors"]] == ["x"]
    # Commas inside texts do not count.
    status, answer = post(api, json.dumps({"type_id": 3, "url": "a", "x": ",\\" * 30_000}))
    assert [each["field"] for each in answer["errors"]] == ["x"]


def test_names_the_key_that_stands_there_twice(api: APIClient) -> None:
    status, answer = post(api, '{"type_id":3,"url":"a","active":1,"active":1,"url":"b"}')

    assert status == 400
    assert "the key 'url' appears twice" in answer["message"]


def test_names_no_more_than_a_hundred_unknown_fields(api: APIClient) -> None:
    fields = ",".join(f'"{n:06x}":1' for n in range(1000))

    status, answer = post(api, f'{{"url":5,{fields}}}')

    assert status == 400
    wrong = [each["field"] for each in answer["errors"]]
    assert len(wrong) == 101
    assert wrong[-1] == "url"


def open_ticket(api: APIClient, **fields: object) -> tuple[int, dict]:
    answer = api.post("/company/tickets", {"type_id": 2, **fields})
    return answer.status_code, answer.json()


@pytest.mark.parametrize("id", [True, 0, 2**63, 2**70])
def test_an_id_is_an_integer_that_a_row_can_have(api: APIClient, id: object) -> None:
    status, answer = open_ticket(api, carrier_id=id)

    assert status == 400
    assert [wrong["field"] for wrong in answer["errors"]] == ["carrier_id"]
    assert open_ticket(api, carrier_id=2**63 - 1)[0] == 200


def test_a_text_has_64_kib_in_utf_8_and_stays_as_it_came(api: APIClient) -> None:
    text = " ñ" + "ñ" * (32 * 1024 - 2) + "\n"

    status, answer = open_ticket(api, comments=text)

    assert (status, len(text.encode())) == (200, 64 * 1024)
    assert Ticket.objects.get(pk=answer["id"]).comments == text
    assert open_ticket(api, comments=f"{text}.")[0] == 400


def test_common_slips_are_named_in_our_words(api: APIClient) -> None:
    body = b'\xef\xbb\xbf{"type_id": 2}'
    marked = api.post("/company/tickets", body, content_type="application/json").json()
    plus = api.get("/company/tickets?updated_since=2026-01-01T00:00:00+00:00").json()
    coded = {"name": "a.png", "content_base64": "\U0005ba9d"}
    wrong = api.post("/company/upload/evidences", coded).json()

    assert "byte order mark" in marked["message"]
    assert "%2B" in plus["message"]
    assert "codec" not in wrong["message"]
