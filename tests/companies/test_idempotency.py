from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.db import connection
from django.http import HttpResponse
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from companies.models import Company, KeptAnswer
from tests import builders as build
from tests.files import picture
from tests.keys import lose_keys
from tickets.models import Comment, Ticket
from tickets.statuses import Status
from webhooks.models import Webhook

SECRETS = ("secret", "standard_secret")
BODY = {"url": "https://hooks.example.com/in"}


def post(api: APIClient, key: str, body: dict | None = None) -> tuple[int, dict]:
    answer = api.post("/webhooks", body or BODY, headers={"Idempotency-Key": key})
    return answer.status_code, answer.json()


def test_answers_the_same_post_with_the_first_answer(api: APIClient) -> None:
    first = post(api, "one")

    assert first[0] == 200
    assert post(api, "one") == first
    assert Webhook.objects.count() == 1


def test_answers_with_the_first_answers_own_headers_too(api: APIClient, company: Company) -> None:
    address = f"/company/tickets/{build.ticket(company).pk}/comments"

    first, again = (
        api.post(address, {"comment": "Any news?"}, headers={"Idempotency-Key": "one"})
        for _ in range(2)
    )

    assert first["X-Ticket-Changed"] == again["X-Ticket-Changed"] == "1"
    assert first["X-Ticket-Status"] == again["X-Ticket-Status"] == "1"
    assert again["Content-Type"] == first["Content-Type"]
    assert Comment.objects.count() == 1


def test_does_another_key_anew(api: APIClient) -> None:
    first = post(api, "one")[1]["data"]["id"]

    other = {"url": "https://hooks.example.com/other"}
    assert post(api, "two", other)[1]["data"]["id"] != first


def test_refuses_the_key_for_another_body(api: APIClient) -> None:
    post(api, "one")

    status, answer = post(api, "one", {"url": "https://other.example.com/in"})

    assert (status, Webhook.objects.count()) == (422, 1)
    assert answer["message"] == "This Idempotency-Key was used for a different request."


def test_refuses_the_key_on_another_path(api: APIClient, company: Company) -> None:
    """Refuse it, because a comment on the second ticket would be answered 200 and never written."""
    statuses = [
        api.post(
            f"/company/tickets/{build.ticket(company).pk}/comments",
            {"comment": "Any news?"},
            headers={"Idempotency-Key": "one"},
        ).status_code
        for _ in range(2)
    ]

    assert statuses == [200, 422]
    assert Comment.objects.count() == 1


def test_duplicate_refusal_is_not_stored(api: APIClient, company: Company) -> None:
    blocking = build.ticket(company, type_id=4, shipment_id=7)

    def ask() -> int:
        body = {"type_id": 4, "shipment_id": 7, "comments": "It is lost."}
        return api.post("/company/tickets", body, headers={"Idempotency-Key": "one"}).status_code

    assert ask() == 409
    Ticket.objects.filter(pk=blocking.pk).update(status=Status.ACCEPTED)
    assert ask() == 200


def test_keeps_keys_apart_by_company(api: APIClient, birch_api: APIClient) -> None:
    assert post(api, "one")[1]["data"]["id"] != post(birch_api, "one")[1]["data"]["id"]


def test_refusal_is_not_stored_and_rolls_back(api: APIClient) -> None:
    first = post(api, "one", {"url": "http://insecure.example.com"})

    assert first[0] == 400
    assert post(api, "one", {"url": "http://insecure.example.com"}) == first
    assert not Webhook.objects.exists()
    assert not KeptAnswer.objects.exists()
    assert post(api, "one")[0] == 200


def test_refusal_by_state_is_checked_again(api: APIClient, company: Company) -> None:
    """Reopen the ticket, closed at the first request, before the second."""
    ticket = build.ticket(company, status=Status.DECLINED)
    address = f"/company/tickets/{ticket.pk}"

    def comment() -> HttpResponse:
        key = {"Idempotency-Key": "one"}
        return api.post(f"{address}/comments", {"comment": "Any news?"}, headers=key)

    def upload() -> HttpResponse:
        body = {"name": "box.png", "content_base64": b64encode(picture()).decode()}
        return api.post(f"{address}/files", body, headers={"Idempotency-Key": "two"})

    def rate() -> HttpResponse:
        key = {"Idempotency-Key": "three"}
        return api.post(f"/tickets/ratings/{ticket.pk}", {"rating": 5}, headers=key)

    assert [ask().status_code for ask in (comment, upload)] == [422, 422]
    Ticket.objects.update(status=Status.IN_REVIEW)
    for ask in (comment, upload):
        first, again = ask(), ask()
        assert first.status_code == again.status_code == 200
        assert first.json() == again.json() or ask is upload  # its address is signed anew
        assert "Idempotent-Replayed" not in first
        assert again["Idempotent-Replayed"] == "true"
    assert rate().status_code == 422
    Ticket.objects.update(status=Status.ACCEPTED)
    assert rate().status_code == 200
    assert Comment.objects.filter(text="Any news?").count() == 1
    assert ticket.files.count() == 1


def test_only_a_repeated_answer_says_that_it_is_one(api: APIClient) -> None:
    without = api.post("/webhooks", {"url": "https://hooks.example.com/without"})
    first, again = (
        api.post("/webhooks", BODY, headers={"Idempotency-Key": "one"}) for _ in range(2)
    )

    assert "Idempotent-Replayed" not in without
    assert "Idempotent-Replayed" not in first
    assert again["Idempotent-Replayed"] == "true"
    assert again.json() == first.json()


@pytest.mark.parametrize(
    ("body", "same"),
    [
        ('{"url": "https://hooks.example.com/in", "type_id": 3}', True),
        ('{"type_id":3,\n"url":"https:\\/\\/hooks.example.com\\/\\u0069n"}', True),
        ('{"url": "https://hooks.example.com/in", "type_id": 3.0}', False),
        ('{"url": "https://hooks.example.com/in", "type_id": "3"}', False),
        ('{"url": "https://hooks.example.com/in"}', False),
        ('{"url": "https://hooks.example.com/in", "type_id": 3} ', True),
        ('{"url": "https://hooks.example.com/in", "type_id": 3', False),
    ],
)
def test_json_that_means_the_same_is_the_same_body(api: APIClient, body: str, same: bool) -> None:
    first = {"type_id": 3, "url": "https://hooks.example.com/in"}
    assert post(api, "one", first)[0] == 200

    again = api.post(
        "/webhooks",
        body.encode(),
        content_type="application/json",
        headers={"Idempotency-Key": "one"},
    )

    assert (again.status_code == 200) == same, again.content
    assert ("Idempotent-Replayed" in again) == same
    if not same:
        assert again.json()["code"] == "idempotency_key_reused"


def test_an_answer_that_an_earlier_version_kept_is_given_again(api: APIClient) -> None:
    first = post(api, "one")
    KeptAnswer.objects.update(meaning="")

    assert post(api, "one") == first


def test_forgets_after_a_day(api: APIClient) -> None:
    first = post(api, "one")
    KeptAnswer.objects.update(created_at=timezone.now() - timedelta(hours=25))

    other = {"url": "https://hooks.example.com/other"}
    assert post(api, "one", other)[1]["data"]["id"] != first[1]["data"]["id"]


@pytest.mark.parametrize("key", ["", "é", "k" * 256, "sp ace 7", "a, b", " ", "a\x7f", "a\t"])
def test_refuses_keys_that_cannot_be_kept(api: APIClient, key: str) -> None:
    assert post(api, key)[0] == 422
    assert not Webhook.objects.exists()


def test_a_kept_answer_holds_no_secret_in_clear_and_shows_it_again(api: APIClient) -> None:
    first = post(api, "one")
    secret = first[1]["data"]["secret"]
    row = KeptAnswer.objects.get()

    assert post(api, "one") == first
    assert secret not in stored_text(row)
    assert row.body == {"meta": "webhook_created", "data": without(first[1]["data"], *SECRETS)}

    webhook = first[1]["data"]["id"]
    address, key = f"/webhooks/{webhook}/secret", {"Idempotency-Key": "two"}
    rotated, again = (api.post(address, headers=key).json() for _ in range(2))
    # The repeat shows the secret of its own answer, even after another change.
    api.post(address)

    assert rotated == again == api.post(address, headers=key).json()
    assert rotated["data"]["secret"] not in stored_text(KeptAnswer.objects.get(key="two"))


def test_an_answer_without_a_secret_is_kept_as_it_is(api: APIClient) -> None:
    first = post(api, "one", {**BODY, "type_id": 1})

    row = KeptAnswer.objects.get()
    assert (row.body, row.secret_body) == (first[1], None)


def test_a_repeat_without_the_key_of_its_secret_shows_all_but_the_secret(
    api: APIClient, settings: Settings
) -> None:
    first = post(api, "one")
    lose_keys(settings)

    status, again = post(api, "one")

    assert (status, again["data"]) == (200, without(first[1]["data"], *SECRETS))


def without(row: dict, *names: str) -> dict:
    return {other: value for other, value in row.items() if other not in names}


def stored_text(row: KeptAnswer) -> str:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT to_jsonb(kept)::text FROM companies_keptanswer AS kept WHERE id = %s",
            [row.pk],
        )
        return cursor.fetchone()[0]


@pytest.mark.usefixtures("rows_to_keep")
def test_does_simultaneous_posts_once(api: APIClient) -> None:
    """Post something that may exist twice: only the key prevents the second one."""
    barrier = Barrier(8)

    def send(_: int) -> int:
        barrier.wait()
        try:
            body = {"type_id": 2, "comments": "Once, please"}
            return api.post(
                "/company/tickets", body, headers={"Idempotency-Key": "one"}
            ).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(send, range(8)))

    assert set(statuses) <= {200, 409}
    assert Ticket.objects.count() == 1
