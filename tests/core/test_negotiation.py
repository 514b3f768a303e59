"""JSON in, JSON out: no other format is accepted or available."""

import gzip
import json

import pytest
from rest_framework.test import APIClient

from companies.models import Company
from tests import builders as build
from webhooks.models import Webhook

BODY = json.dumps({"url": "https://hooks.example.com/in"}).encode()


@pytest.mark.parametrize("accept", ["application/xml", "text/html", "nonsense", "", "é/é;q=x"])
def test_answers_in_json_whatever_is_asked_for(api: APIClient, accept: str) -> None:
    answer = api.get("/webhooks", headers={"Accept": accept})

    assert answer.status_code == 200
    assert answer["Content-Type"] == "application/json"


def test_a_query_cannot_ask_for_another_format(api: APIClient) -> None:
    assert api.get("/webhook-types?format=xml")["Content-Type"] == "application/json"


@pytest.mark.parametrize(
    ("content_type", "coding", "body"),
    [
        ("", "", BODY),
        ("*/*", "", BODY),
        ("application/*", "", BODY),
        ("application/vnd.api+json", "", BODY),
        ("multipart/form-data; boundary=x", "", b"--x--"),
        ("application/json", "gzip", gzip.compress(BODY, mtime=0)),
        ("application/json", "gzip", BODY),
        ("application/json", "unheard-of", BODY),
    ],
)
def test_refuses_everything_but_plain_json(
    api: APIClient, content_type: str, coding: str, body: bytes
) -> None:
    headers = {"Content-Encoding": coding} if coding else {}

    answer = api.generic("POST", "/webhooks", body, content_type, headers=headers)

    assert answer.status_code == 415
    assert answer.json()["message"] == "Send application/json, not compressed."
    assert answer.get("Accept-Encoding") == ("identity" if coding else None)
    assert answer.get("Accept") == (None if coding else "application/json")
    assert not Webhook.objects.exists()


@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "one"}])
@pytest.mark.parametrize("path", ["/company/tickets", "/company/tickets/1/files", "/webhooks"])
def test_says_which_codings_and_types_are_taken(
    api: APIClient, company: Company, path: str, headers: dict[str, str]
) -> None:
    build.ticket(company, id=1)
    brings_a_file = path.endswith("/files")
    types = "application/json, multipart/form-data" if brings_a_file else "application/json"

    for coding, content_type, advertised in (
        (" GZip ", "application/json", {"Accept-Encoding": "identity"}),
        ("br", "text/plain", {"Accept-Encoding": "identity", "Accept": types}),
        ("identity", "text/plain", {"Accept": types}),
    ):
        headers_sent = {"Content-Encoding": coding, **headers}
        answer = api.generic("POST", path, BODY, content_type, headers=headers_sent)

        assert answer.status_code == 415
        accepted = {name: answer[name] for name in ("Accept", "Accept-Encoding") if name in answer}
        assert accepted == advertised


def test_takes_a_body_that_says_it_is_not_compressed(api: APIClient) -> None:
    headers = {"Content-Encoding": "identity"}

    answer = api.generic("POST", "/webhooks", BODY, "application/json", headers=headers)

    assert answer.status_code == 200
