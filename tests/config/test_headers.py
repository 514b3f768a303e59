"""Response headers that tell browsers what to refuse."""

import pytest
from django.test import Client
from rest_framework.test import APIClient

from companies.models import Company
from config import security
from tests import builders as build

DESK = ["/admin/", "/admin/login/", "/admin/tickets/ticket/", "/admin/password_change/"]
ELSEWHERE = ["/healthz", "/nowhere", "/webhooks", "/schema"]


@pytest.mark.parametrize("path", [*DESK, *ELSEWHERE, "/docs"])
def test_every_answer_says_what_a_browser_must_not_do(admin_client: Client, path: str) -> None:
    headers = admin_client.get(path).headers

    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert "camera=()" in headers["Permissions-Policy"]
    policy = headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy
    assert "'unsafe-inline'" not in policy.partition("script-src")[2]
    assert ("'unsafe-eval'" in policy) == path.startswith("/admin/")


@pytest.mark.parametrize("path", ELSEWHERE)
def test_nothing_is_loaded_or_run_outside_of_the_pages(client: Client, path: str) -> None:
    assert client.get(path).headers["Content-Security-Policy"] == security.STRICT


def test_no_page_of_the_desk_holds_a_script_of_its_own(
    admin_client: Client, company: Company
) -> None:
    ticket = build.ticket(company)

    for path in [*DESK, f"/admin/tickets/ticket/{ticket.pk}/change/"]:
        html = admin_client.get(path).content.decode()
        scripts = [tag.partition(">")[0] for tag in html.split("<script")[1:]]
        assert [tag for tag in scripts if "src=" not in tag and "json" not in tag] == []
        assert "javascript:" not in html


def test_the_cookies_stay_with_this_site(client: Client, company: Company) -> None:
    build.agent("ada")
    client.get("/admin/login/")
    client.post("/admin/login/", {"username": "ada", "password": "secret"})

    for name in ("sessionid", "csrftoken"):
        assert client.cookies[name]["samesite"] == "Lax"
    assert client.cookies["sessionid"]["httponly"]


@pytest.mark.parametrize("path", ["/", "/admin"])
def test_typed_address_redirects_to_the_desk(client: Client, path: str) -> None:
    answer = client.get(path)

    assert answer.status_code == 302
    assert answer["Location"] == "/admin/"
    assert client.post(path).json()["statusCode"] == 405


def test_no_cache_keeps_what_companies_are_answered(api: APIClient) -> None:
    registered = api.post("/webhooks", {"url": "https://hooks.example.com/in"})
    assert registered.json()["data"]["secret"]

    for answer in [
        registered,
        api.post(f"/webhooks/{registered.json()['data']['id']}/secret", {}),
        api.get("/company/tickets"),
        api.get("/company/tickets/9"),
        APIClient().get("/company/tickets"),
    ]:
        assert answer["Cache-Control"] == "private, no-store"
        assert answer["Vary"] == "Authorization"
