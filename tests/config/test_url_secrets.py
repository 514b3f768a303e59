"""Failures of any kind log no secret part of a URL."""

import io
import logging
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.core import signing
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db import OperationalError
from django.http import Http404
from django.test import Client
from django.urls import reverse
from django.utils.http import urlsafe_base64_encode

from config import security
from core.watch import log_lines
from desk.joining import invitations
from tests.config.web import running
from tickets.api import serving

CODE, STATE = "4/0AfJohXk-canary", "canary/state+of.a-sign-on"


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """Capture the text that the handlers of the root logger and of gunicorn write."""
    stream = io.StringIO()
    for handler in logging.getLogger().handlers:
        if isinstance(handler.formatter, log_lines.TextLines):
            monkeypatch.setattr(handler, "stream", stream)
    return stream


@pytest.fixture
def secret_urls(db: None) -> dict[str, tuple[str, ...]]:
    """Return URLs of every kind that grants access, each with its secrets."""
    user = User.objects.create_user("ada")
    signed = signing.dumps(7, salt=serving.SALT)
    urls: dict[str, tuple[str, ...]] = {reverse("signed_file", args=[signed]): (signed,)}
    for name, tokens in (
        ("desk_invitation", invitations.tokens),
        ("desk_password_reset", default_token_generator),
    ):
        token = tokens.make_token(user)
        uid = urlsafe_base64_encode(str(user.pk).encode())
        urls[reverse(name, args=[uid, token])] = (token,)
    back = f"{reverse('desk_sign_on_back')}?code={quote(CODE)}&state={quote(STATE, safe='')}"
    return urls | {back: (CODE, STATE, quote(CODE), quote(STATE, safe=""))}


def secrets_in(secret_urls: dict[str, tuple[str, ...]], text: str) -> list[str]:
    return [each for secrets in secret_urls.values() for each in secrets if each in text]


@pytest.mark.parametrize("form", log_lines.FORMATS)
@pytest.mark.parametrize(
    "error",
    [None, Http404, PermissionDenied, SuspiciousOperation, RuntimeError, OperationalError],
)
def test_no_line_about_a_request_that_fails_has_a_secret_of_its_url(
    logged: io.StringIO,
    secret_urls: dict[str, tuple[str, ...]],
    monkeypatch: pytest.MonkeyPatch,
    form: str,
    error: type[Exception] | None,
) -> None:
    client = Client(raise_request_exception=False)
    for handler in logging.getLogger().handlers:
        if isinstance(handler.formatter, log_lines.TextLines):
            monkeypatch.setattr(handler, "formatter", log_lines.formatter(form))

    for url, secrets in secret_urls.items():

        def fail(path: str, words: str = f"cannot read {url!r} of {secrets}") -> str:
            raise error(words)

        with monkeypatch.context() as broken:
            if error:
                broken.setattr(security, "policy", fail)
            client.get(url)
            # gunicorn passes the URL unchanged.
            client.get(url, RAW_URI=url)

    assert logged.getvalue().count("parceldesk.access") == 2 * len(secret_urls)
    assert secrets_in(secret_urls, logged.getvalue()) == []
    if error in (SuspiciousOperation, RuntimeError):
        assert "cannot read" in logged.getvalue()


def test_a_form_that_is_refused_names_no_secret_of_the_page_it_came_from(
    logged: io.StringIO, secret_urls: dict[str, tuple[str, ...]]
) -> None:
    client = Client(enforce_csrf_checks=True)

    for url in secret_urls:
        # One request without a cookie, and one from the same desk under another name.
        client.post(url)
        page = f"https://desk.example.com{url}"
        answer = client.post("/admin/login/", secure=True, headers={"referer": page})
        assert answer.status_code == 403

    assert "Referer checking failed" in logged.getvalue()
    assert secrets_in(secret_urls, logged.getvalue()) == []


@pytest.mark.parametrize(
    ("line", "status", "message"),
    [
        ("GET {} HTTP/1.1", b"500", "Error handling request GET"),
        ("GET {}", b"400", "Invalid request from ip=127.0.0.1"),
        ("{} / HTTP/1.1", b"400", "Invalid request from ip=127.0.0.1"),
    ],
)
def test_gunicorn_says_what_failed_without_a_secret(
    secret_urls: dict[str, tuple[str, ...]],
    tmp_path: Path,
    line: str,
    status: bytes,
    message: str,
) -> None:
    with running(tmp_path, constants={"tests.config.recorder.ALL_BROKEN": True}) as web:
        for url in secret_urls:
            head = f"{line.format(url)}\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            assert web.ask(head.encode()).split()[1] == status

    logged = (tmp_path / "log").read_text()
    assert logged.count(message) == len(secret_urls), logged
    assert secrets_in(secret_urls, logged) == []


def test_another_request_of_the_same_thread_hides_nothing_of_the_last_one(
    logged: io.StringIO, client: Client, db: None
) -> None:
    client.get("/nowhere/", {"q": "a-value-of-a-query"})
    logging.getLogger("companies").warning("a-value-of-a-query")

    assert "[-] a-value-of-a-query" in logged.getvalue()
