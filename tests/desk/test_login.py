"""Signing in: guessing is stopped, and everybody else gets in."""

from datetime import timedelta

import pytest
from axes.models import AccessAttempt, AccessLog
from django.core.management import call_command
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from tests import builders as build

pytestmark = pytest.mark.django_db
LOGIN = "/admin/login/"
LOCKED = "Too many attempts."


@pytest.fixture(autouse=True)
def ada(db: None) -> None:
    build.agent("ada")


def attempt(client: Client, password: str, name: str = "ada", **headers: str) -> HttpResponse:
    return client.post(LOGIN, {"username": name, "password": password}, **headers)


def guess(client: Client, times: int, name: str = "ada", **headers: str) -> HttpResponse:
    for n in range(times):
        answer = attempt(client, f"guess-{n}", name, **headers)
    return answer


def test_four_wrong_passwords_do_no_harm(client: Client) -> None:
    assert guess(client, 4).status_code == 200

    assert attempt(client, "secret").status_code == 302
    assert not AccessAttempt.objects.exists()


def test_a_sign_in_leads_to_the_desk(client: Client) -> None:
    assert attempt(client, "secret").headers["Location"] == "/admin/"


def test_the_fifth_locks_the_name_for_that_address(client: Client) -> None:
    answer = guess(client, 5)

    assert answer.status_code == 429
    assert LOCKED in answer.content.decode()
    assert "15 minutes" in answer.content.decode()
    assert 'name="password"' in answer.content.decode()
    assert attempt(client, "secret").status_code == 429
    assert client.get("/admin/").status_code == 302
    assert attempt(Client(), "secret", REMOTE_ADDR="10.0.0.9").status_code == 302


def test_a_name_that_is_nobody_s_is_locked_alike(client: Client) -> None:
    assert guess(client, 5, "nobody").content.decode().count(LOCKED) == 1


def test_other_browser_or_forged_header_does_not_bypass_the_lock(client: Client) -> None:
    guess(client, 3)
    guess(client, 2, HTTP_USER_AGENT="other", HTTP_X_FORWARDED_FOR="10.9.9.9")

    for address in ["10.1.1.1", "", "x", "127.0.0.1, 10.2.2.2"]:
        answer = attempt(client, "secret", HTTP_X_FORWARDED_FOR=address)
        assert answer.status_code == 429


def test_forwarded_address_counts_only_from_the_proxy(client: Client, settings: Settings) -> None:
    settings.PROXY_COUNT = 1

    for n in range(5):
        attempt(client, "guess", HTTP_X_FORWARDED_FOR=f"10.0.0.{n}, 198.51.100.7")

    assert attempt(client, "secret", HTTP_X_FORWARDED_FOR="198.51.100.7").status_code == 429
    assert attempt(client, "secret", HTTP_X_FORWARDED_FOR="198.51.100.8").status_code == 302


def test_the_lock_opens_by_itself_and_is_not_made_longer_by_trying(client: Client) -> None:
    guess(client, 5)
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=14))
    assert attempt(client, "secret").status_code == 429

    AccessAttempt.objects.update(
        attempt_time=AccessAttempt.objects.get().attempt_time - timedelta(minutes=2)
    )

    assert attempt(client, "secret").status_code == 302


def test_an_operator_opens_it_by_a_command(client: Client) -> None:
    guess(client, 5)

    call_command("axes_reset_username", "ada")

    assert attempt(client, "secret").status_code == 302


def test_typed_password_is_neither_stored_nor_shown(client: Client, operator: Client) -> None:
    attempt(client, "nearly-my-password")

    stored_attempt = AccessAttempt.objects.values().get()
    assert "nearly-my-password" not in str(stored_attempt)
    page = f"/admin/axes/accessattempt/{stored_attempt['id']}/change/"
    assert "csrfmiddlewaretoken=" not in operator.get(page).content.decode()
    assert operator.post(page, {"failures_since_start": 0}).status_code == 403


def test_agents_do_not_see_the_log_of_sign_ins(client: Client) -> None:
    attempt(client, "secret")

    for model in ["accessattempt", "accesslog"]:
        assert client.get(f"/admin/axes/{model}/").status_code == 403


def test_prune_forgets_old_sign_ins(client: Client) -> None:
    guess(client, 1)
    attempt(Client(), "secret")
    attempt(client, "wrong")
    old = timezone.now() - timedelta(days=40)
    AccessAttempt.objects.update(attempt_time=old)
    AccessLog.objects.update(attempt_time=old)
    attempt(client, "wrong", "eve")

    call_command("prune", "--older-than", "30")

    assert [one.username for one in AccessAttempt.objects.all()] == ["eve"]
    assert not AccessLog.objects.exists()


def test_a_new_password_signs_the_other_browsers_out() -> None:
    here, there = Client(), Client()
    for client in (here, there):
        attempt(client, "secret")
    new = {"old_password": "secret", "new_password1": "horse-9-battery"}

    here.post("/admin/password_change/", {**new, "new_password2": "horse-9-battery"})

    assert here.get("/admin/").status_code == 200
    assert there.get("/admin/").status_code == 302
