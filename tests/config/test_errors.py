import pytest
from django.db import OperationalError
from django.test import Client
from rest_framework.test import APIClient

from companies.api.authentication import BearerToken


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a secret of ours")

    monkeypatch.setattr(BearerToken, "authenticate", fail)


@pytest.mark.parametrize(
    ("path", "shape"), [("/webhooks", "statusCode"), ("/ship/generaltrack/", "meta")]
)
def test_a_crash_is_answered_in_json_and_tells_nothing(broken: None, path: str, shape: str) -> None:
    answer = APIClient(raise_request_exception=False).post(path, {})

    assert answer.status_code == 500
    assert shape in answer.json()
    assert b"secret" not in answer.content


def test_a_database_away_is_a_503_that_says_when_to_come_back(
    api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(BearerToken, "authenticate", away)

    answer = api.get("/webhooks")

    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert answer.json()["error"] == "Service Unavailable"


def test_a_foreign_host_name_is_refused_in_json(client: Client, db: None) -> None:
    answer = client.get("/webhooks", headers={"Host": "evil.example"})

    assert answer.status_code == 400
    assert answer.json() == {
        "statusCode": 400,
        "error": "Bad Request",
        "message": "The request is malformed.",
    }


def test_people_get_pages(client: Client, db: None) -> None:
    assert client.get("/admin/nowhere/").status_code in (302, 404)
    assert "text/html" in client.get("/admin/login/")["Content-Type"]
