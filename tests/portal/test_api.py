"""POST /portal/sessions: what it takes, what it refuses, and what its address opens."""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from companies import services
from companies.models import Company, KeptAnswer
from portal.models import PortalSession
from tests import builders as build
from tests.corpora import BadInput, bad_inputs
from tests.corpora.checks import send_raw
from tests.test_error_codes import EXPLAINED

PATH = "/portal/sessions"
LONG = f"https://shop.example.com/{'a' * 2000}"


def ask(api: APIClient, body: object = None, **headers: str) -> Any:
    return api.post(PATH, {} if body is None else body, format="json", headers=headers)


def wrong(answer: Any) -> list[tuple[str, str]]:
    assert answer.status_code == 400, answer.content
    return [(each["field"], each["code"]) for each in answer.json()["errors"]]


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        ({"scope": []}, [("scope", "too_short")]),
        ({"scope": ["tickets", "shipments"]}, [("scope[1]", "invalid_choice")]),
        ({"scope": ["tickets", "webhooks", "tickets"]}, [("scope", "too_long")]),
        ({"scope": "tickets"}, [("scope", "wrong_type")]),
        ({"scope": None}, [("scope", "not_null")]),
        ({"scope": [None]}, [("scope[0]", "not_null")]),
        ({"scope": {"0": "tickets"}}, [("scope", "wrong_type")]),
        ({"ticket_id": "1"}, [("ticket_id", "wrong_type")]),
        ({"ticket_id": True}, [("ticket_id", "wrong_type")]),
        ({"ticket_id": None}, [("ticket_id", "not_null")]),
        ({"language": "fr"}, [("language", "invalid_choice")]),
        ({"language": "ES"}, [("language", "invalid_choice")]),
        ({"language": ""}, [("language", "invalid_choice")]),
        ({"return_url": ""}, [("return_url", "blank")]),
        ({"return_url": LONG[:2001]}, [("return_url", "too_long")]),
        ({"return_url": 5}, [("return_url", "wrong_type")]),
        ({"company_id": 1}, [("company_id", "unknown_field")]),
        (
            {"ticket_id": "1", "language": "fr"},
            [("ticket_id", "wrong_type"), ("language", "invalid_choice")],
        ),
    ],
    ids=str,
)
def test_a_bad_body_is_refused_with_its_field(
    api: APIClient, body: Any, errors: list[tuple[str, str]]
) -> None:
    assert wrong(ask(api, body)) == errors
    assert not PortalSession.objects.exists()


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        " javascript:alert(1)",
        "JavaScript://shop.example.com/%0aalert(1)",
        "data:text/html,x",
        "//evil.example.com/",
        "/orders",
        "shop.example.com",
        "https://",
        "https:///orders",
        "https:shop.example.com",
        "ftp://shop.example.com/",
        "https://shop.example.com@evil.example.com/",
        "https://me:secret@shop.example.com/",
        "https://shop.example.com/\r\nSet-Cookie: a=b",
        "https://shop.example.com/\tx",
        "https://[::1",
        "https://shop.example.com\\@evil.example.com/",
        "https://shop.example.com/ a",
    ],
)
def test_a_return_address_is_a_plain_web_address(api: APIClient, url: str) -> None:
    ((field, code),) = wrong(ask(api, {"return_url": url}))

    assert (field, code) in {("return_url", "invalid_url"), ("return_url", "invalid_characters")}
    assert not PortalSession.objects.exists()


@pytest.mark.parametrize(
    "url", ["http://localhost:3000/x", LONG[:2000], "https://ñandú.example/@me?a=b@c#d"]
)
def test_other_web_addresses_are_where_it_leads_back(api: APIClient, url: str) -> None:
    assert ask(api, {"return_url": url}).status_code == 200
    assert PortalSession.objects.get().return_url == url


@pytest.mark.parametrize(
    ("scope", "parts"),
    [
        (None, (True, True)),
        (["tickets"], (True, False)),
        (["webhooks"], (False, True)),
        (["webhooks", "tickets"], (True, True)),
        # Says it twice, and means it once.
        (["tickets", "tickets"], (True, False)),
    ],
)
def test_a_scope_opens_its_parts_and_no_other(
    api: APIClient, scope: list[str] | None, parts: tuple[bool, bool]
) -> None:
    url = ask(api, {} if scope is None else {"scope": scope}).json()["data"]["url"]
    browser = Client()
    browser.get(url)

    codes = [browser.get(path).status_code for path in ("/c/tickets", "/c/webhooks")]

    session = PortalSession.objects.get()
    assert (session.tickets, session.webhooks) == parts
    assert codes == [200 if part else 403 for part in parts]


def test_its_address_and_time_are_told(api: APIClient, settings: Settings) -> None:
    before = timezone.now().replace(microsecond=0)
    data = ask(api).json()["data"]

    expires_at = datetime.fromisoformat(f"{data['expires_at']}+00:00")
    five = timedelta(minutes=5)
    assert before + five <= expires_at <= timezone.now() + five
    assert data["url"].startswith("http://testserver/c/s/")
    assert len(data["url"].rpartition("/")[2]) == 32

    settings.PUBLIC_URL = "https://desk.acme.example"
    assert ask(api).json()["data"]["url"].startswith("https://desk.acme.example/c/s/")
    settings.PUBLIC_URL = ""
    assert ask(api).json()["data"]["url"].startswith("http://testserver/c/s/")


def test_begins_at_a_ticket_of_the_company_and_at_none_of_another(
    api: APIClient, company: Company, birch: Company
) -> None:
    own, foreign = build.ticket(company), build.ticket(birch)

    url = ask(api, {"ticket_id": own.pk}).json()["data"]["url"]
    refused = [ask(api, {"ticket_id": pk}) for pk in (foreign.pk, foreign.pk + 1000, 2**63 - 1)]

    assert Client().get(url)["Location"] == f"/c/tickets/{own.pk}"
    assert [(each.status_code, each.json()["code"]) for each in refused] == [(404, "not_found")] * 3
    assert refused[0].json() == refused[1].json()
    assert PortalSession.objects.count() == 1


def test_is_refused_while_the_page_is_off(api: APIClient, settings: Settings) -> None:
    url = ask(api).json()["data"]["url"]
    settings.COMPANY_PAGE = False

    answer = ask(api)

    assert (answer.status_code, answer.json()["code"]) == (422, "page_off")
    assert PortalSession.objects.count() == 1
    assert Client().get(url).status_code == 404


def test_is_refused_for_strangers_and_a_company_that_is_off(
    api: APIClient, company: Company
) -> None:
    Company.objects.filter(pk=company.pk).update(active=False)

    assert ask(api).json()["code"] == "invalid_token"
    assert ask(APIClient()).json()["code"] == "not_authenticated"
    assert [api.get(PATH).status_code, api.put(PATH, {}).status_code] == [401, 401]
    assert not PortalSession.objects.exists()


def test_only_post_is_answered(api: APIClient) -> None:
    for method in (api.get, api.put, api.delete, api.patch):
        assert method(PATH).status_code == 405


def test_a_key_gets_the_same_address_again_and_its_secret_is_encrypted(api: APIClient) -> None:
    key = {"Idempotency-Key": "button-1"}
    first, again = ask(api, **key), ask(api, **key)
    url = first.json()["data"]["url"]

    assert again.json() == first.json()
    assert (again["Idempotent-Replayed"], "Idempotent-Replayed" in first) == ("true", False)
    assert PortalSession.objects.count() == 1
    kept = KeptAnswer.objects.get()
    assert url not in json.dumps(kept.body)
    assert ask(api, {"scope": ["tickets"]}, **key).json()["code"] == "idempotency_key_reused"
    # The address is used up once it was opened, also for the key.
    assert Client().get(url).status_code == 302
    assert Client().get(ask(api, **key).json()["data"]["url"]).status_code == 410


def test_counts_as_writing(api: APIClient, settings: Settings) -> None:
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, "read": 0, "write": 2}

    assert [ask(api).status_code for _ in range(3)] == [200, 200, 429]


def test_no_conditional_header_changes_it_and_nobody_may_keep_it(api: APIClient) -> None:
    first = ask(api)
    again = ask(api, **{"If-None-Match": "*", "If-Match": '"x"', "Accept-Encoding": "gzip"})

    assert again.status_code == 200
    assert "ETag" not in first
    assert "Content-Encoding" not in again
    assert first["Cache-Control"] == "private, no-store"
    assert first.json()["data"]["url"] != again.json()["data"]["url"]


def bad_bodies() -> Iterator[BadInput]:
    """Yield each body of the corpus once, whatever endpoint it was written for."""
    seen = set()
    for row in bad_inputs():
        headers = {name: text for name, text in row.headers.items() if name != "Authorization"}
        sent = (row.body, *sorted(headers.items()))
        if row.method in ("POST", "PUT") and sent not in seen:
            seen.add(sent)
            yield row._replace(method="POST", path=PATH, headers=headers)


def test_the_corpus_of_bad_bodies_finds_no_fault(
    company: Company, subtests: pytest.Subtests
) -> None:
    authorization = f"Bearer {services.issue_token(company.pk)}"
    for row in bad_bodies():
        with subtests.test(row.id), transaction.atomic():
            headers = {**row.headers, "Authorization": authorization}
            answer = send_raw(row._replace(headers=headers))

            assert answer.status_code < 500
            if answer.status_code >= 400:
                assert answer.json()["code"] in EXPLAINED
            transaction.set_rollback(True)


def test_the_example_host_is_not_taken_from_the_request(api: APIClient, settings: Settings) -> None:
    """Build the address with PUBLIC_URL, whatever Host header a caller sends."""
    settings.ALLOWED_HOSTS = ["*"]
    settings.PUBLIC_URL = "https://desk.acme.example"

    answer = api.post(PATH, {}, format="json", headers={"Host": "evil.example.com"})

    assert urlsplit(answer.json()["data"]["url"]).netloc == "desk.acme.example"
