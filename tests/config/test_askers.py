"""Rows of the fair queue are named by authenticated callers, never by text that a caller chose."""

from collections.abc import Iterator
from http.cookies import SimpleCookie
from typing import NamedTuple

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client, RequestFactory
from pytest_django import Settings
from rest_framework.test import APIClient

from companies import known_callers, services
from companies.known_callers import CALLERS, KnownCallers
from companies.models import Company
from config.door.askers import row_for, row_name
from config.door.fair_queue import HASHING
from desk.people.known_devices import known_device, remember_device

STRANGER = "address 198.51.100.7"


@pytest.fixture(autouse=True)
def nobody_known() -> Iterator[None]:
    CALLERS.owners.entries.clear()
    yield
    CALLERS.owners.entries.clear()


def name(*headers: tuple[str, str], peer: str = "198.51.100.7", proxy: bool = False) -> str:
    return row_name(headers, peer, proxy=proxy)


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("AUTHORIZATION", "Bearer made_up")],
        [("AUTHORIZATION", "x5f1c")],
        [("COOKIE", "sessionid=madeup; device_0123456789abcdef=x:y:z")],
        [("COOKIE", "theme=dark; ;=;\x00")],
        [("X-FORWARDED-FOR", "203.0.113.9")],
    ],
)
def test_made_up_text_names_no_row(headers: list[tuple[str, str]]) -> None:
    assert name(*headers) == STRANGER


def test_a_company_has_one_row_whichever_token_it_shows_and_however(company: Company) -> None:
    token, second = services.issue_token(company.pk), services.issue_token(company.pk)
    client = APIClient()
    for one in (token, second):
        assert name(("AUTHORIZATION", f"Bearer {one}")) == STRANGER
        client.get("/webhooks", headers={"authorization": f"Bearer {one}"})

    spellings = [f"Bearer {token}", f"bEARER {token}", f"BEARER {second}"]

    assert {name(("AUTHORIZATION", one)) for one in spellings} == {f"company {company.pk}"}
    assert name(("AUTHORIZATION", f"Bearer  {token}")) == STRANGER
    assert name(("AUTHORIZATION", f"Bearer {token}"), ("AUTHORIZATION", "x")) == STRANGER


def test_a_revoked_token_goes_back_to_its_address(company: Company) -> None:
    token = services.issue_token(company.pk)
    headers = {"authorization": f"Bearer {token}"}
    client = APIClient()
    client.get("/webhooks", headers=headers)
    services.revoke_token(token)

    assert client.get("/webhooks", headers=headers).status_code == 401
    assert name(("AUTHORIZATION", headers["authorization"])) == STRANGER


def test_sessions_of_a_user_have_one_row(admin_user: User) -> None:
    names = set()
    for _ in range(2):
        client = Client()
        client.force_login(admin_user)
        cookie = ("COOKIE", f"a=1; sessionid={client.cookies['sessionid'].value}")
        assert name(cookie) == STRANGER
        client.get("/admin/")
        names.add(name(cookie))
    assert names == {f"user {admin_user.pk}"}

    client.post("/admin/logout/")
    assert name(cookie) == STRANGER


class AsSent(NamedTuple):
    """A request as gunicorn has parsed it."""

    method: str
    path: str
    headers: list[tuple[str, str]]


def device_cookie(rf: RequestFactory, username: str = "ada") -> tuple[str, str]:
    answer = HttpResponse()
    remember_device(rf.get("/"), answer, username)
    ((cookie, morsel),) = SimpleCookie(answer.cookies.output(attrs=[], header="", sep=";")).items()
    return cookie, morsel.value


def test_a_device_has_its_row_in_every_process_from_the_first_request(rf: RequestFactory) -> None:
    cookie, value = device_cookie(rf)
    request = rf.get("/")
    request.COOKIES[cookie] = value

    row = row_for(
        AsSent("POST", "/admin/login/", [("COOKIE", f"{cookie}={value}")]), "", proxy=True
    )

    assert row == f"device {known_device(request, 'ada')}"


def test_a_device_cookie_that_was_changed_or_renamed_names_no_row(rf: RequestFactory) -> None:
    cookie, value = device_cookie(rf)
    other, _ = device_cookie(rf, "eve")

    for changed in (
        f"{other}={value}",
        f"{cookie}={'1' if value[0] == '0' else '0'}{value[1:]}",
        f"{cookie}={value.partition('.')[0]}",
        f"{cookie}=.",
        f"{cookie}=\xe9.\xe9",
        "; ".join([*(f"device_{number}=x.y" for number in range(10)), f"{cookie}={value}"]),
    ):
        assert name(("COOKIE", changed)) == STRANGER


@pytest.mark.parametrize(
    ("proxies", "forwarded", "row"),
    [
        (0, "203.0.113.9", "address 10.0.0.1"),
        (1, "203.0.113.9, 203.0.113.10", "address 203.0.113.10"),
        (2, "203.0.113.9, 203.0.113.10", "address 203.0.113.9"),
        (1, "2001:db8:1:2:3::4", "address 2001:db8:1:2::"),
        (1, "made up", "address 10.0.0.1"),
        (2, "203.0.113.9", "address 10.0.0.1"),
    ],
)
def test_a_proxy_s_word_is_taken_as_far_as_proxy_count_says(
    settings: Settings, proxies: int, forwarded: str, row: str
) -> None:
    settings.PROXY_COUNT = proxies
    header = ("X-FORWARDED-FOR", forwarded)

    assert name(header, peer="10.0.0.1", proxy=True) == row
    assert name(header) == STRANGER


def test_callers_are_forgotten_in_time_and_beyond_a_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(known_callers, "MOST_KNOWN", 3)
    now = 1000.0
    callers = KnownCallers(lambda: now)
    for number in range(5):
        callers.remember("token", f"t{number}", f"company {number}")

    assert [callers.owner("token", f"t{number}") for number in (1, 2, 4)] == [
        None,
        "company 2",
        "company 4",
    ]
    assert callers.owner("session", "t4") is None
    now += known_callers.KNOWN_SECONDS
    assert callers.owner("token", "t4") is None


@pytest.mark.parametrize(
    ("method", "path", "waits"),
    [
        ("POST", "/admin/login/", True),
        ("POST", "/admin/password-reset/MQ/set-password/", True),
        ("POST", "/admin/invitation/MQ/set-password/", True),
        ("GET", "/admin/login/", False),
        ("POST", "/admin/password-reset/", False),
        ("POST", "/admin/tickets/ticket/", False),
        ("POST", "/webhooks", False),
    ],
)
def test_a_stranger_who_signs_in_waits_apart_from_the_pages_of_the_address(
    method: str, path: str, waits: bool
) -> None:
    row = row_for(
        AsSent(method, path, [("AUTHORIZATION", "made up")]), ("198.51.100.7", 1), proxy=False
    )

    assert row == (HASHING if waits else "") + STRANGER
