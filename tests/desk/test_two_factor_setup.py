"""Setup of a second factor: only its owner ever sees the key, and other sessions end."""

from datetime import timedelta

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db.models import F
from django.test import Client
from django_otp.oath import totp
from django_otp.plugins.otp_totp.models import TOTPDevice

from desk.people import second_factor
from tests import builders as build
from tests.desk.test_two_factor import ACCOUNT, begin, inside, key_on_page, sign_in, switch_on

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def ada(db: None) -> User:
    return build.agent("ada").user


def age(span: timedelta) -> None:
    TOTPDevice.objects.update(created_at=F("created_at") - span)


def test_asks_for_the_password_first() -> None:
    client = sign_in()

    for password in ("", "wrong"):
        assert begin(client, password).status_code == 200
        assert key_on_page(client) == b""

    assert not TOTPDevice.objects.exists()
    assert AccessAttempt.objects.get().failures_since_start == 1


def test_a_key_is_made_anew_each_time_it_is_begun() -> None:
    client = sign_in()
    begin(client, "secret")
    first = key_on_page(client)
    assert key_on_page(client) == first

    begin(client, "secret")

    assert key_on_page(client) not in (b"", first)
    assert TOTPDevice.objects.count() == 1


def test_a_key_lives_minutes(ada: User) -> None:
    client = sign_in()
    begin(client, "secret")
    key = key_on_page(client)
    age(timedelta(minutes=9))
    assert key_on_page(client) == key

    age(timedelta(minutes=1))

    html = client.post(ACCOUNT, {"code": f"{totp(key):06}"}).content.decode()
    assert "expired" in html
    assert not second_factor.is_on(ada)
    assert key_on_page(client) == b""


def test_a_key_is_shown_in_the_session_that_began_alone(ada: User) -> None:
    thief, owner = sign_in(), sign_in()
    begin(thief, "secret")
    key_of_thief = key_on_page(thief)

    assert key_on_page(owner) == b""
    owner.post(ACCOUNT, {"code": f"{totp(key_of_thief):06}"})
    assert not second_factor.is_on(ada)
    begin(owner, "secret")

    assert key_on_page(owner) not in (b"", key_of_thief)
    assert key_on_page(thief) == b""


def test_when_it_is_on_the_other_sessions_end() -> None:
    build.agent("eve")
    elsewhere, eve, stranger, owner = sign_in(), sign_in("eve"), Client(), sign_in()
    stranger.get("/admin/login/")
    assert inside(elsewhere)

    switch_on(owner)

    assert inside(owner)
    assert inside(eve)
    assert elsewhere.get("/admin/").headers["Location"].startswith("/admin/login/")
    assert Session.objects.count() == 2


def test_a_wrong_code_ends_no_session() -> None:
    elsewhere, owner = sign_in(), sign_in()
    begin(owner, "secret")

    owner.post(ACCOUNT, {"code": "000000"})

    assert inside(elsewhere)
