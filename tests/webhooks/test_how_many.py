"""The limit of webhooks per company, and their lists (decision N4)."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from companies.models import Company
from tests import builders as build
from tests.tickets.racing import in_order
from webhooks import services, targets
from webhooks.models import Webhook

URL = "https://hooks.example.com/in"
IN_USE = "This URL already receives events of this type."


def register(api: APIClient, number: int, **body: Any) -> HttpResponse:
    return api.post("/webhooks", {"url": f"{URL}/{number}", **body})


def listed(api: APIClient, **query: Any) -> tuple[list[int], int | None]:
    answer = api.get("/webhooks", query).json()
    return [webhook["id"] for webhook in answer["data"]], answer["next_cursor"]


def test_the_one_beyond_the_limit_is_refused_with_its_number(
    api: APIClient, birch_api: APIClient, settings: Settings
) -> None:
    assert settings.WEBHOOKS_PER_COMPANY == 100
    settings.WEBHOOKS_PER_COMPANY = 2
    register(api, 1, active=0)
    register(api, 2)

    answer = register(api, 3)

    assert answer.status_code == 422
    assert answer.json()["code"] == "webhook_limit"
    assert "2 webhooks" in answer.json()["message"]
    assert Webhook.objects.count() == 2
    assert register(birch_api, 3).status_code == 200


def test_a_deleted_one_makes_room(api: APIClient, settings: Settings) -> None:
    settings.WEBHOOKS_PER_COMPANY = 1
    first = register(api, 1).json()["data"]["id"]

    api.delete(f"/webhooks/{first}")

    assert register(api, 1).status_code == 200


def test_the_same_url_hears_of_a_type_once(api: APIClient, birch_api: APIClient) -> None:
    first = register(api, 1, active=0).json()["data"]["id"]

    answer = register(api, 1)

    assert answer.status_code == 409
    assert answer.json()["message"] == IN_USE
    assert answer.json()["webhook_id"] == first
    assert register(api, 1, type_id=5).status_code == 200
    assert register(birch_api, 1).status_code == 200
    assert Webhook.objects.count() == 3


def test_repeated_registration_at_the_limit_names_the_webhook(
    api: APIClient, settings: Settings
) -> None:
    settings.WEBHOOKS_PER_COMPANY = 1
    register(api, 1)

    assert register(api, 1).status_code == 409


def test_a_url_cannot_be_changed_to_one_in_use(api: APIClient, company: Company) -> None:
    first, other = build.webhook(company, url=f"{URL}/1"), build.webhook(company, url=f"{URL}/2")

    answer = api.put(f"/webhooks/{other.pk}", {"url": first.url, "active": 0})

    assert answer.status_code == 409
    assert answer.json()["webhook_id"] == first.pk
    other.refresh_from_db()
    assert (other.url, other.active) == (f"{URL}/2", True)
    assert api.put(f"/webhooks/{other.pk}", {"url": f"{URL}/3"}).status_code == 200


def test_two_from_before_stay_and_may_be_changed(api: APIClient, company: Company) -> None:
    build.webhook(company, url=URL)
    twin = build.webhook(company, url=URL)

    assert api.put(f"/webhooks/{twin.pk}", {"url": URL, "active": 0}).status_code == 200


@pytest.mark.usefixtures("rows_to_keep")
def test_simultaneous_registrations_do_not_pass_the_limit_nor_each_other(
    api: APIClient, settings: Settings
) -> None:
    settings.WEBHOOKS_PER_COMPANY = 3
    together = Barrier(6)

    def run(number: int) -> int:
        together.wait()
        try:
            return register(api, number).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        answers = sorted(pool.map(run, [1, 1, 2, 3, 4, 5]))

    assert answers.count(200) == 3
    assert set(answers) <= {200, 409, 422}
    urls = list(Webhook.objects.values_list("url", flat=True))
    assert len(set(urls)) == len(urls) == 3


def test_all_of_them_fit_one_page(
    api: APIClient, company: Company, birch: Company, settings: Settings
) -> None:
    settings.WEBHOOKS_PER_COMPANY = 150
    build.webhook(birch)
    deleted = build.webhook(company, deleted_at=timezone.now())
    webhooks = Webhook.objects.bulk_create(
        Webhook(company=company, type_id=1, url=f"{URL}/{number}") for number in range(150)
    )

    ids, cursor = listed(api)

    assert ids == [webhook.pk for webhook in webhooks]
    assert deleted.pk not in ids
    assert cursor is None


def test_smaller_pages_follow_each_other(api: APIClient, company: Company) -> None:
    ids = [build.webhook(company, url=f"{URL}/{number}").pk for number in range(5)]

    first, cursor = listed(api, limit=2)
    second, further = listed(api, limit=2, cursor=cursor)
    last, end = listed(api, limit=2, cursor=further)

    assert [first, second, last] == [ids[:2], ids[2:4], ids[4:]]
    assert (cursor, further, end) == (str(ids[1]), str(ids[3]), None)


def test_those_without_a_url_are_listed_only_if_asked_for(api: APIClient, company: Company) -> None:
    """Leave them out: clients of the live platform fail at a URL that is null."""
    ids = [
        build.webhook(company, url=url).pk for url in (f"{URL}/0", "", f"{URL}/1", "", f"{URL}/2")
    ]

    assert listed(api)[0] == listed(api, without_url=0)[0] == ids[::2]
    assert listed(api, without_url=1)[0] == ids
    first, cursor = listed(api, limit=2)
    assert (first, listed(api, limit=2, cursor=cursor)) == ([ids[0], ids[2]], ([ids[4]], None))
    assert api.get(f"/webhooks/{ids[1]}").json()["data"]["url"] is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("limit", 0),
        ("limit", 101),
        ("cursor", "x"),
        ("cursor", "0"),
        ("cursor", "9" * 19),
        ("page", 2),
        ("without_url", "true"),
        ("without_url", ""),
    ],
)
def test_a_page_that_cannot_be_is_refused_by_name(api: APIClient, name: str, value: Any) -> None:
    answer = api.get("/webhooks", {name: value})

    assert answer.status_code == 400
    assert [wrong["field"] for wrong in answer.json()["errors"]] == [name]


@pytest.mark.usefixtures("rows_to_keep")
def test_two_webhooks_never_change_to_the_same_url_at_once(company: Company) -> None:
    one, other = (build.webhook(company, url=f"{URL}/{number}") for number in (1, 2))

    _, refused = in_order(
        *(
            partial(services.change_webhook, company, each.pk, url=f"{URL}/3")
            for each in (one, other)
        )
    )

    assert isinstance(refused, services.AlreadyRegistered)
    assert sorted(Webhook.objects.values_list("url", flat=True)) == [f"{URL}/2", f"{URL}/3"]


@pytest.mark.parametrize(
    "spelling",
    [
        "https://HOOKS.parcels.org/a",
        "https://hooks.parcels.org./a",
        "https://hooks.parcels.org:443/a",
        "HTTPS://hooks.parcels.org/a",
    ],
)
def test_another_spelling_of_a_host_is_the_same_url(company: Company, spelling: str) -> None:
    first = services.register_webhook(company, type_id=3, url="https://hooks.parcels.org/a")
    other = services.register_webhook(company, type_id=3, url="https://hooks.parcels.org/b")

    with pytest.raises(services.AlreadyRegistered) as refused:
        services.register_webhook(company, type_id=3, url=spelling)
    assert refused.value.webhook_id == first.pk
    with pytest.raises(services.AlreadyRegistered):
        services.change_webhook(company, other.pk, url=spelling)
    # A webhook may spell its own URL anew, and another type may use it.
    services.change_webhook(company, first.pk, url=spelling)
    services.register_webhook(company, type_id=5, url=spelling)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://ma\u00f1ana.example.org/", "https://xn--maana-pta.example.org", True),
        ("https://[2001:db8:0::1]/", "https://[2001:db8::1]:443/", True),
        ("https://a.example.org/A", "https://a.example.org/a", False),
        ("https://a.example.org/?a=1", "https://a.example.org/?a=2", False),
        ("https://a.example.org:8443/", "https://a.example.org/", False),
        ("https://a.example.org/a/", "https://a.example.org/a", False),
    ],
)
def test_equivalent_urls_are_one(one: str, other: str, same: bool) -> None:
    assert (targets.canonical_url(one) == targets.canonical_url(other)) == same
