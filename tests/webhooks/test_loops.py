"""A webhook cannot point at the service itself, under any name."""

from ipaddress import ip_network

import pytest
from pytest_django import Settings
from rest_framework.test import APIClient

from companies.models import Company
from deliveries.engine.rendering import plain_headers
from tests import builders as build
from webhooks.target_policy import current_policy
from webhooks.targets import BadTarget, check_target

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def hosts(settings: Settings) -> None:
    settings.ALLOWED_HOSTS = [
        "testserver",
        "Desk.acme.com",
        "93.184.216.34",
        "[2606:2800:21f::1]",
        ".birch.com",
        "*",
        "localhost",
        "127.0.0.1",
    ]


@pytest.mark.parametrize(
    "host",
    [
        "desk.acme.com",
        "DESK.acme.com.",
        "desk.acme.com:8443",
        "93.184.216.34",
        "[2606:2800:21f:0:0::1]",
    ],
)
def test_own_hosts_are_no_targets(api: APIClient, company: Company, host: str) -> None:
    webhook = build.webhook(company)
    body = {"url": f"https://{host}/webhooks/1/test"}

    answers = [api.post("/webhooks", body), api.put(f"/webhooks/{webhook.pk}", body)]

    for answer in answers:
        assert answer.status_code == 400
        (wrong,) = answer.json()["errors"]
        assert (wrong["field"], wrong["code"]) == ("url", "target_not_allowed")
        assert "is this service itself" in wrong["message"]


@pytest.mark.parametrize("host", ["hooks.acme.com", "notdesk.acme.com", "hooks.birch.com"])
def test_similar_hosts_are_targets(host: str) -> None:
    assert check_target(f"https://{host}/", current_policy()).host == host


def test_receivers_in_development_listen_beside_the_service(settings: Settings) -> None:
    settings.WEBHOOK_ALLOW_HTTP = True
    settings.WEBHOOK_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)

    for host in ("localhost", "127.0.0.1"):
        assert check_target(f"http://{host}:9000/", current_policy()).port == 9000
    with pytest.raises(BadTarget):
        check_target("http://desk.acme.com/", current_policy())


@pytest.mark.parametrize(
    "path", ["/webhooks/1/test", "/company/tickets", "/ship/webhooktest/", "/platform/feed"]
)
def test_our_own_deliveries_are_refused_under_whatever_name(
    api: APIClient, company: Company, path: str
) -> None:
    token = api._credentials["HTTP_AUTHORIZATION"].removeprefix("Bearer ")
    headers = dict(plain_headers(token))

    answer = APIClient().post(path, {}, headers=headers, format="json")

    assert answer.status_code == 403
    assert "webhook_loop" in answer.content.decode()
    older = APIClient().get("/webhooks", headers={**headers, "User-Agent": "parceldesk/0.9"})
    assert older.json()["code"] == "webhook_loop"
    client = APIClient().get("/webhooks", headers={**headers, "User-Agent": "parceldesk-python"})
    assert client.status_code == 200
