from datetime import timedelta

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from companies import services
from companies.models import ApiToken, Company
from tests import builders as build


def get(authorization: str | None) -> int:
    client = APIClient()
    headers = {} if authorization is None else {"Authorization": authorization}
    return client.get("/webhooks", headers=headers).status_code


def test_lets_a_live_token_in(company: Company) -> None:
    token = services.issue_token(company.pk)

    assert get(f"Bearer {token}") == 200
    assert get(f"bearer {token}") == 200


@pytest.mark.parametrize(
    "spoil",
    [
        lambda token: None,
        lambda token: token,
        lambda token: "Bearer ",
        lambda token: f"Basic {token}",
        lambda token: f"Bearer {token}a",
        lambda token: f"Bearer {token} {token}",
        lambda token: f"Bearer {token[:-1]}",
        lambda token: "Bearer ' OR '1'='1",
        lambda token: "Bearer " + "a" * 8000,
        lambda token: "Bearer \udcff",
    ],
)
def test_refuses_all_else(company: Company, spoil: object) -> None:
    token = services.issue_token(company.pk)

    assert get(spoil(token)) == 401


def test_says_how_to_sign_in(company: Company) -> None:
    answer = APIClient().get("/webhooks")

    assert answer["WWW-Authenticate"] == "Bearer"
    assert answer.json() == {
        "statusCode": 401,
        "error": "Unauthorized",
        "message": "Send the header Authorization: Bearer <API token>.",
        "code": "not_authenticated",
    }


@pytest.mark.parametrize("path", ["/webhooks", "/company/tickets/1/files", "/ship/generaltrack/"])
def test_names_the_error_of_a_token_that_was_sent(company: Company, path: str) -> None:
    client = APIClient()
    for authorization, challenge in (
        ("Bearer test_no", 'Bearer error="invalid_token"'),
        ("bearer  test_no", 'Bearer error="invalid_token"'),
        ("Bearer ", "Bearer"),
        ("Basic dGVzdA==", "Bearer"),
    ):
        answer = client.post(path, headers={"Authorization": authorization})

        assert (answer.status_code, answer["WWW-Authenticate"]) == (401, challenge)


def test_refuses_expired_and_revoked_tokens_and_inactive_companies(company: Company) -> None:
    expired = services.issue_token(company.pk, expires_in=timedelta(seconds=-1))
    revoked = services.issue_token(company.pk)
    services.revoke_token(revoked)
    sleeping = services.issue_token(build.company("Sleepy", active=False).pk)

    assert [get(f"Bearer {token}") for token in (expired, revoked, sleeping)] == [401] * 3


def test_lets_several_tokens_of_a_company_live(company: Company) -> None:
    first, second = services.issue_token(company.pk), services.issue_token(company.pk)
    services.revoke_token(first)

    assert (get(f"Bearer {first}"), get(f"Bearer {second}")) == (401, 200)


def test_refuses_before_it_reads_the_body(company: Company) -> None:
    answer = APIClient().post("/webhooks", "{", content_type="application/json")

    assert answer.status_code == 401


def test_keeps_only_a_digest(company: Company) -> None:
    token = services.issue_token(company.pk)
    row = ApiToken.objects.get()

    assert token.startswith("test_")
    assert len(token) >= 48
    assert token not in f"{row.__dict__}"
    assert token.startswith(row.prefix)


def test_notes_the_last_use_at_most_once_a_minute(company: Company) -> None:
    token = services.issue_token(company.pk)
    get(f"Bearer {token}")
    first = ApiToken.objects.get().last_used_at
    get(f"Bearer {token}")

    assert ApiToken.objects.get().last_used_at == first

    ApiToken.objects.update(last_used_at=timezone.now() - timedelta(minutes=2))
    get(f"Bearer {token}")

    assert ApiToken.objects.get().last_used_at >= first
