from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from companies.models import Company, KeptAnswer
from tests import builders as build
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
    """Else a comment on the second ticket would be answered 200 and never be written."""
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


def test_a_duplicate_is_asked_about_anew(api: APIClient, company: Company) -> None:
    blocking = build.ticket(company, type_id=4, shipment_id=7)

    def ask() -> int:
        body = {"type_id": 4, "shipment_id": 7, "comments": "It is lost."}
        return api.post("/company/tickets", body, headers={"Idempotency-Key": "one"}).status_code

    assert ask() == 409
    Ticket.objects.filter(pk=blocking.pk).update(status=Status.ACCEPTED)
    assert ask() == 200


def test_keeps_keys_apart_by_company(api: APIClient, birch_api: APIClient) -> None:
    assert post(api, "one")[1]["data"]["id"] != post(birch_api, "one")[1]["data"]["id"]


def test_keeps_a_refusal_and_nothing_of_what_it_began(api: APIClient) -> None:
    first = post(api, "one", {"url": "http://insecure.example.com"})

    assert first[0] == 400
    assert post(api, "one", {"url": "http://insecure.example.com"}) == first
    assert not Webhook.objects.exists()


def test_forgets_after_a_day(api: APIClient) -> None:
    first = post(api, "one")
    KeptAnswer.objects.update(created_at=timezone.now() - timedelta(hours=25))

    other = {"url": "https://hooks.example.com/other"}
    assert post(api, "one", other)[1]["data"]["id"] != first[1]["data"]["id"]


@pytest.mark.parametrize("key", ["", "é", "k" * 256])
def test_refuses_keys_that_cannot_be_kept(api: APIClient, key: str) -> None:
    assert post(api, key)[0] == 422
    assert not Webhook.objects.exists()


def test_a_kept_answer_holds_no_secret_in_clear_and_shows_it_again(api: APIClient) -> None:
    first = post(api, "one")
    secret = first[1]["data"]["secret"]
    kept = KeptAnswer.objects.get()

    assert post(api, "one") == first
    assert secret not in stored_text(kept)
    assert kept.body == {"meta": "webhook_created", "data": without(first[1]["data"], *SECRETS)}

    webhook = first[1]["data"]["id"]
    address, key = f"/webhooks/{webhook}/secret", {"Idempotency-Key": "two"}
    rotated, again = (api.post(address, headers=key).json() for _ in range(2))
    # The one that this answer held, also after it was changed once more.
    api.post(address)

    assert rotated == again == api.post(address, headers=key).json()
    assert rotated["data"]["secret"] not in stored_text(KeptAnswer.objects.get(key="two"))


def test_an_answer_without_a_secret_is_kept_as_it_is(api: APIClient) -> None:
    first = post(api, "one", {**BODY, "type_id": 1})

    kept = KeptAnswer.objects.get()
    assert (kept.body, kept.secret_body) == (first[1], None)


def test_a_repeat_without_the_key_of_its_secret_shows_all_but_the_secret(
    api: APIClient, settings: Settings
) -> None:
    first = post(api, "one")
    lose_keys(settings)

    status, again = post(api, "one")

    assert (status, again["data"]) == (200, without(first[1]["data"], *SECRETS))


def without(row: dict, *names: str) -> dict:
    return {other: value for other, value in row.items() if other not in names}


def stored_text(kept: KeptAnswer) -> str:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT to_jsonb(kept)::text FROM companies_keptanswer AS kept WHERE id = %s",
            [kept.pk],
        )
        return cursor.fetchone()[0]


@pytest.mark.usefixtures("rows_to_keep")
def test_does_simultaneous_posts_once(api: APIClient) -> None:
    """Of something of which there may be two: no rule but the key keeps the second out."""
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
