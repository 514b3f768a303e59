"""JSON in, JSON out: nothing else is taken, and nothing else can be asked for."""

import gzip
import json

import pytest
from rest_framework.test import APIClient

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
    assert not Webhook.objects.exists()


def test_takes_a_body_that_says_it_is_not_compressed(api: APIClient) -> None:
    headers = {"Content-Encoding": "identity"}

    answer = api.generic("POST", "/webhooks", BODY, "application/json", headers=headers)

    assert answer.status_code == 200
