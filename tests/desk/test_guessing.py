"""Password guessing from many addresses or at many names is slowed down and locks nobody out."""

import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import timedelta

import pytest
from axes.models import AccessAttempt, AccessLog
from django.contrib.auth.hashers import PBKDF2PasswordHasher, check_password
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db.models import F
from django.http import HttpResponse
from django.test import Client
from pytest_django import Settings
from rest_framework.test import APIClient

from desk.people import hashing, sign_in_limits
from tests import builders as build

pytestmark = pytest.mark.django_db
LOGIN = "/admin/login/"
MD5 = "django.contrib.auth.hashers.MD5PasswordHasher"
# Lower than the real bounds, since each failure renders a page.
NAMES, ADDRESSES = 6, 7


@pytest.fixture(autouse=True)
def lower_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (sign_in_limits.OF_A_NAME, sign_in_limits.OF_AN_ADDRESS) == (10, 20)
    monkeypatch.setattr(sign_in_limits, "OF_A_NAME", NAMES)
    monkeypatch.setattr(sign_in_limits, "OF_AN_ADDRESS", ADDRESSES)


@pytest.fixture(autouse=True)
def ada(db: None) -> User:
    return build.agent("ada").user


def attempt(
    password: str, name: str = "ada", *, at: str = "192.0.2.1", client: Client | None = None
) -> HttpResponse:
    """Try to sign in, from an unknown browser unless `client` is given."""
    body = {"username": name, "password": password}
    return (client or Client()).post(LOGIN, body, REMOTE_ADDR=at)


def guess_everywhere(times: int, name: str = "ada") -> None:
    for number in range(times):
        attempt("wrong", name, at=f"198.51.100.{number}")


def spray(times: int, at: str = "192.0.2.1") -> None:
    """Guess once at each of many names."""
    for number in range(times):
        attempt("wrong", f"name-{number}", at=at)


def locked(answer: HttpResponse) -> bool:
    if answer.status_code == 302:
        return False
    assert answer.status_code == 429
    assert answer["Retry-After"] == "900"
    assert "Too many attempts." in answer.content.decode()
    return True


def test_a_name_is_bounded_over_all_addresses() -> None:
    guess_everywhere(NAMES - 1)
    assert attempt("wrong", at="203.0.113.1").status_code == 429

    assert locked(attempt("secret", at="203.0.113.2"))
    assert locked(attempt("guess", "ada", at="203.0.113.3"))
    assert AccessAttempt.objects.count() == NAMES


def test_another_name_is_free_meanwhile() -> None:
    build.agent("eve")
    guess_everywhere(NAMES)

    assert not locked(attempt("secret", "eve"))


def test_an_address_is_bounded_over_all_names() -> None:
    spray(ADDRESSES)

    assert locked(attempt("secret"))
    assert not locked(attempt("secret", at="192.0.2.2"))


def test_office_with_occasional_typos_is_not_locked_out() -> None:
    spray(ADDRESSES - 1)

    assert not locked(attempt("secret"))


def test_a_success_forgets_no_guesses_at_other_names() -> None:
    build.agent("eve")
    spray(ADDRESSES - 1)
    attempt("secret", "eve")

    spray(1)

    assert locked(attempt("secret"))


def test_a_network_of_ipv6_counts_as_one_address() -> None:
    for number in range(ADDRESSES):
        attempt("wrong", f"name-{number}", at=f"2001:db8:0:1:{number}::7")

    assert locked(attempt("secret", at="2001:db8:0:1:ffff::1"))
    assert not locked(attempt("secret", at="2001:db8:0:2::1"))


def test_ipv4_mapped_ipv6_address_counts_as_ipv4() -> None:
    for _ in range(5):
        attempt("wrong", at="::ffff:192.0.2.1")

    assert locked(attempt("secret", at="192.0.2.1"))
    assert not locked(attempt("secret", at="::ffff:192.0.2.2"))


def test_locks_expire_by_themselves() -> None:
    guess_everywhere(NAMES)
    spray(ADDRESSES)

    past = F("attempt_time") - timedelta(minutes=16)
    AccessAttempt.objects.update(attempt_time=past)

    assert not locked(attempt("secret"))


def test_an_operator_opens_them_by_the_same_command() -> None:
    guess_everywhere(NAMES)

    call_command("axes_reset_username", "ada")

    assert not locked(attempt("secret"))


@pytest.fixture
def own() -> Client:
    """Return a browser in which Ada has signed in before."""
    client = Client()
    attempt("secret", client=client)
    client.post("/admin/logout/")
    return client


def test_a_device_that_has_signed_in_before_is_never_locked_out_by_others(own: Client) -> None:
    guess_everywhere(NAMES)
    spray(ADDRESSES)
    assert locked(attempt("secret"))

    assert not locked(attempt("secret", client=own))


def test_a_device_s_own_guesses_slow_it_down_and_nobody_else(own: Client) -> None:
    for number in range(5):
        attempt("wrong", at=f"192.0.2.{number}", client=own)

    assert locked(attempt("secret", at="192.0.2.9", client=own))
    assert not locked(attempt("secret", at="192.0.2.9"))


def test_a_success_forgets_the_device_s_own_failures(own: Client) -> None:
    for number in range(4):
        attempt("wrong", at=f"192.0.2.{number}", client=own)
    attempt("secret", at="192.0.2.9", client=own)

    attempt("wrong", client=own)

    assert not locked(attempt("secret", client=own))


def test_a_device_is_known_for_its_own_account_alone(own: Client) -> None:
    build.agent("eve")
    guess_everywhere(NAMES, "eve")

    assert locked(attempt("secret", "eve", client=own))


def test_a_forged_or_borrowed_cookie_is_no_known_device(own: Client) -> None:
    (name, cookie) = next(each for each in own.cookies.items() if each[0].startswith("device_"))
    build.agent("eve")
    eve = Client()
    attempt("secret", "eve", client=eve)
    (its,) = (value.value for key, value in eve.cookies.items() if key.startswith("device_"))
    guess_everywhere(NAMES)

    for forged in ("x", cookie.value.replace(":", "0:", 1), its):
        client = Client()
        client.cookies[name] = forged
        assert locked(attempt("secret", client=client))


def test_the_cookie_is_kept_from_scripts_and_lives_a_year(own: Client, settings: Settings) -> None:
    cookies = {name: value for name, value in own.cookies.items() if name.startswith("device_")}

    (cookie,) = cookies.values()
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    assert cookie["max-age"] == 365 * 86400
    assert cookie["path"] == "/admin/"
    # Match a whole word: the random part contains these three letters now and then.
    assert "ada" not in re.split(r"[^0-9A-Za-z]+", f"{cookies}")
    assert AccessLog.objects.count() == 1


def test_a_wrong_password_makes_no_known_device() -> None:
    client = Client()

    attempt("wrong", client=client)

    assert not [name for name in client.cookies if name.startswith("device_")]


@pytest.fixture
def hashes(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Hash as in production, until this event is set; check that no two hash at a time."""
    settings.PASSWORD_HASHERS = ["desk.people.hashing.PBKDF2InTurn"]
    may_end = threading.Event()

    def hash_slowly(*_: object) -> str:
        running.append(1)
        most.append(len(running))
        may_end.wait(10)
        running.pop()
        return "pbkdf2_sha256$1$salt$hash"

    running: list[int] = []
    most: list[int] = []
    monkeypatch.setattr(PBKDF2PasswordHasher, "encode", hash_slowly)
    yield may_end
    may_end.set()
    assert max(most, default=0) <= 1


@pytest.fixture
def strangers_hashing(hashes: threading.Event) -> Iterator[ExitStack]:
    """Occupy all places for strangers who hash, until this is closed."""
    hashes.set()
    with ExitStack() as stack:
        for _ in range(hashing.STRANGERS_AT_ONCE):
            stack.enter_context(hashing.place_for(False))
        yield stack


def test_sign_in_is_deferred_while_too_many_hash(
    api: APIClient, strangers_hashing: ExitStack
) -> None:
    answers = [attempt("secret", f"name-{number}") for number in range(ADDRESSES)]
    others = api.get("/webhooks").status_code

    assert {answer.status_code for answer in answers} == {503}
    assert {answer["Retry-After"] for answer in answers} == {"2"}
    assert "try again" in answers[0].content.decode()
    assert others == 200
    strangers_hashing.close()
    assert attempt("wrong", at="192.0.2.2").status_code == 200


def test_passwords_are_hashed_one_at_a_time(hashes: threading.Event) -> None:
    """Let the fixture check how many were hashed at a time."""
    with ThreadPoolExecutor(hashing.STRANGERS_AT_ONCE) as pool:
        stored = "pbkdf2_sha256$1$salt$other"
        waiting = [
            pool.submit(check_password, "x", stored) for _ in range(hashing.STRANGERS_AT_ONCE)
        ]
        while hashing.strangers._value:
            threading.Event().wait(0.001)
        assert not any(each.done() for each in waiting)
        hashes.set()


def test_deferred_tries_lock_their_address_and_no_name(
    strangers_hashing: ExitStack,
) -> None:
    for _ in range(ADDRESSES):
        assert attempt("secret").status_code == 503
    assert locked(attempt("secret"))
    assert attempt("secret", at="192.0.2.2").status_code == 503

    strangers_hashing.close()
    assert locked(attempt("secret"))
    assert attempt("secret", at="192.0.2.3").status_code == 200
    AccessAttempt.objects.update(attempt_time=F("attempt_time") - timedelta(minutes=16))
    assert attempt("secret").status_code == 200


def test_deferred_tries_count_anew_after_the_lock(strangers_hashing: ExitStack) -> None:
    for _ in range(ADDRESSES):
        attempt("secret")
    AccessAttempt.objects.update(attempt_time=F("attempt_time") - timedelta(minutes=16))

    assert [attempt("secret").status_code for _ in range(2)] == [503, 503]


def device_of_ada(settings: Settings) -> Client:
    """Sign in with a quick hash, then restore the hashers that the test has set."""
    client = Client()
    of_production, settings.PASSWORD_HASHERS = settings.PASSWORD_HASHERS, [MD5]
    assert attempt("secret", client=client).status_code == 302
    client.post("/admin/logout/")
    settings.PASSWORD_HASHERS = of_production
    return client


def test_late_turn_is_deferred_except_for_known_devices(
    settings: Settings, hashes: threading.Event
) -> None:
    client = device_of_ada(settings)
    hashes.set()

    with hashing.after_waiting(hashing.MOST_WAITED_SECONDS + 1):
        assert attempt("wrong").status_code == 503
        assert attempt("wrong", client=client).status_code == 200
    assert failures_of_addresses() == 1
    with hashing.after_waiting(hashing.MOST_WAITED_SECONDS - 1):
        assert attempt("wrong").status_code == 200
    assert attempt("wrong", "eve").status_code == 200


def test_hashing_is_first_come_first_served() -> None:
    turn, order = hashing.FirstComeLock(), []

    def take(number: int) -> None:
        with turn:
            order.append(number)

    threads = [threading.Thread(target=take, args=[number]) for number in range(20)]
    with turn:
        for number, thread in enumerate(threads):
            thread.start()
            while len(turn.row) <= number:
                threading.Event().wait(0.001)
        assert order == []
    for thread in threads:
        thread.join()

    assert order == list(range(20))
    assert not turn.is_locked


def test_a_known_device_has_a_place_that_strangers_cannot_take(
    settings: Settings, hashes: threading.Event
) -> None:
    client = device_of_ada(settings)
    hashes.set()

    with hashing.place_for(False), hashing.place_for(False):
        assert attempt("secret").status_code == 503
        assert attempt("wrong", "eve", client=client).status_code == 503
        assert attempt("wrong", client=client).status_code == 200
        with hashing.place_for(True):
            assert attempt("wrong", client=client).status_code == 503
    assert failures_of_addresses() == 2


def test_signed_in_user_has_the_reserved_place_too(
    settings: Settings, ada: User, hashes: threading.Event
) -> None:
    client = Client()
    client.force_login(ada)
    hashes.set()
    body = {"old_password": "wrong", "new_password1": "x", "new_password2": "x"}

    with hashing.place_for(False), hashing.place_for(False):
        assert client.post("/admin/password_change/", body).status_code == 200


def failures_of_addresses() -> int:
    return AccessAttempt.objects.get(username="").failures_since_start


def test_earlier_hashes_still_verify(settings: Settings) -> None:
    stored = PBKDF2PasswordHasher().encode("secret", "salt", 1)
    settings.PASSWORD_HASHERS = ["desk.people.hashing.PBKDF2InTurn"]

    assert check_password("secret", stored)
    assert not check_password("wrong", stored)
    assert hashing.PBKDF2InTurn().encode("secret", "salt", 1) == stored
