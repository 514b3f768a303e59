import pytest
from django.db import OperationalError, connection, transaction
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


def test_a_statement_that_takes_too_long_is_one_line_of_the_log(
    api: APIClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def slow(*_: object) -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = 20")
            cursor.execute("SELECT pg_sleep(20)")

    monkeypatch.setattr(BearerToken, "authenticate", slow)

    with caplog.at_level("INFO"):
        assert api.get("/webhooks").status_code == 503

    lines = [each for each in caplog.records if each.levelname != "INFO"]
    message = "cannot reach the database: /webhooks: canceling statement due to statement timeout"
    assert [each.getMessage() for each in lines] == [message]
    assert [each.exc_info for each in lines] == [None]


def test_a_database_away_is_a_503_that_says_when_to_come_back(
    api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise OperationalError("connection to 10.1.2.3 refused")

    monkeypatch.setattr(BearerToken, "authenticate", away)

    answer = api.get("/webhooks")

    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert answer.json() == {
        "statusCode": 503,
        "error": "Service Unavailable",
        "message": "The service cannot reach its database. Try again in a few seconds.",
        "code": "database_unavailable",
    }


def test_every_wrong_field_is_named_with_its_place(api: APIClient) -> None:
    documents = [
        {"field_id": "a"},
        {"field_id": 5},
        {"field_id": "c", "type": "date", "value": "x"},
    ]

    answer = api.post("/company/tickets", {"type_id": "2", "documents": documents})

    assert answer.status_code == 400
    assert [each["field"] for each in answer.json()["errors"]] == [
        "type_id",
        "documents[1].field_id",
        "documents[2].value",
    ]


def test_an_answer_of_the_api_has_the_bytes_that_are_documented(api: APIClient) -> None:
    for number in range(5):
        api.post("/webhooks", {"url": f"https://hooks.example.com/{number}"})

    answer = api.get("/webhooks", headers={"Accept-Encoding": "gzip"})

    assert "Content-Encoding" not in answer
    assert len(answer.content) > 1000


def test_a_foreign_host_name_is_refused_in_json(client: Client, db: None) -> None:
    answer = client.get("/webhooks", headers={"Host": "evil.example"})

    assert answer.status_code == 400
    assert answer.json() == {
        "statusCode": 400,
        "error": "Bad Request",
        "message": "The request is malformed.",
        "code": "malformed_request",
    }


def test_people_get_pages(client: Client, db: None) -> None:
    assert client.get("/admin/nowhere/").status_code == 302
    assert "text/html" in client.get("/admin/login/")["Content-Type"]
