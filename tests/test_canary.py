"""No secret is found where it does not belong, whatever was called.

Every endpoint of the description is called with recognizable secrets, also with an
Idempotency-Key, with bodies that are refused, and while it fails. So is the desk. Then all tables,
logs, metrics, error mails, pages and later answers are searched.
"""

import logging
import re
from base64 import b32decode
from collections.abc import Iterator
from secrets import token_hex
from typing import Any

import pytest
from axes.models import AccessAttempt, AccessLog
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django_otp.oath import totp
from pytest_django import Settings
from rest_framework.test import APIClient

from companies import services
from companies.api import idempotency
from companies.models import Company
from core.data import encryption
from core.watch import log_lines
from deliveries import publishing
from deliveries.models import Delivery
from desk.people import second_factor
from tests import builders as build
from tests.canary import Canaries, secrets_in
from tests.described import Operation, operations
from tests.sending import deliver
from tests.test_openapi import Stock, owned
from tools.faults.receiver import Answer, Receiver
from webhooks import services as webhook_services
from webhooks.models import Webhook
from webhooks.targets import Policy

PASSWORD_PAGE = "/admin/password_change/"
ACCOUNT = "/admin/second-factor/"


@pytest.fixture
def canaries() -> Canaries:
    return Canaries()


@pytest.fixture
def api(company: Company, canaries: Canaries) -> APIClient:
    token = canaries.add("API token", services.issue_token(company.pk))
    client = APIClient(raise_request_exception=False)
    client.default_format = "json"
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    return client


@pytest.fixture
def watched(settings: Settings, caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """Capture all log lines, and mails of every error."""
    settings.ADMINS = [("Olga", "olga@desk.example")]
    caplog.set_level(logging.INFO)
    return caplog


@pytest.fixture
def receiver(loopback: Policy) -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


def token() -> str:
    return f"canary-{token_hex(8)}"


def body_with_canaries(body: Any, canaries: Canaries) -> Any:
    """Return an example of a body, with a delivery token of ours where one is allowed."""
    if isinstance(body, dict) and "url" in body:
        return {**body, "auth_token": canaries.add("delivery token", token())}
    return body


def call_all(stock: Stock, canaries: Canaries, **headers: str) -> dict[str, Any]:
    """Call every endpoint with every example of its body; returns the answers by operation."""
    answers = {}
    # Deletions come last: their objects could not be used afterwards.
    for operation in sorted(operations(), key=lambda each: each.method == "delete"):
        for number, example in enumerate(operation.bodies() or [None]):
            body = body_with_canaries(example, canaries)
            own_headers = {name: f"{operation}-{number}-{key}" for name, key in headers.items()}
            answer = stock.send(operation, body, **own_headers)
            note_answer(canaries, operation, answer)
            answers[str(operation)] = answer
            if own_headers:
                again = stock.send(operation, body, **own_headers)
                note_answer(canaries, operation, again)
                if operation.idempotent and answer.status_code < 400:
                    assert again.json() == answer.json()
    return answers


def note_answer(canaries: Canaries, operation: Operation, answer: Any) -> None:
    """Register the secrets that an answer shows; all else of it must contain none."""
    text = answer.content.decode()
    for secret in secrets_in(answer.json()):
        canaries.add("signing secret", secret)
        text = text.replace(secret, "")
    canaries.look(f"answer of {operation}", text)


def call_wrongly(stock: Stock, canaries: Canaries, patch: pytest.MonkeyPatch) -> None:
    """Send requests that are refused, and requests that fail on our side."""
    stranger = APIClient()
    stranger.credentials(HTTP_AUTHORIZATION=f"Bearer {canaries.add('API token', token())}")
    for operation in operations():
        note_answer(canaries, operation, Stock(stranger, stock.ids).send(operation))
        wrong = {"auth_token": canaries.add("delivery token", token()), "colour": "red"}
        key = {"Idempotency-Key": f"{operation}-wrong"}
        note_answer(canaries, operation, stock.send(operation, wrong, **key))

    def fail(*_: object, **options: object) -> None:
        raise RuntimeError("for a test")

    with patch.context() as broken:
        broken.setattr(webhook_services.targets, "check_target", fail)
        body = {
            "url": "https://hooks.example.com/canary",
            "auth_token": canaries.add("delivery token", token()),
        }
        answer = stock.api.post("/webhooks", body)
        assert answer.status_code == 500
        canaries.look("answer of a failure", answer.content)


def feed_as_the_platform(canaries: Canaries) -> None:
    """Feed with a valid token, and with an invalid one."""
    tokens = (services.issue_platform_token(), token())
    for text, status in zip(tokens, (200, 401), strict=True):
        sender = APIClient(HTTP_AUTHORIZATION=f"Bearer {canaries.add('platform token', text)}")
        answer = sender.generic("POST", "/platform/feed", b"{\n", "application/x-ndjson")
        assert answer.status_code == status
        canaries.look("answer to the platform", answer.content)


def work_at_the_desk(canaries: Canaries, patch: pytest.MonkeyPatch) -> Client:
    """Sign in, rightly and wrongly; a phone, another password, another user; some of it fails."""
    old, new, wrong = (canaries.add("password", token()) for _ in range(3))
    User.objects.create_superuser("olga", password=old)
    client = Client(raise_request_exception=False)
    client.post("/admin/login/", {"username": "olga", "password": wrong})
    client.post("/admin/login/", {"username": "olga", "password": old})
    changed = {"old_password": old, "new_password1": new, "new_password2": new}
    assert client.post(PASSWORD_PAGE, changed).status_code == 302
    add = {"username": "nina", "password1": new, "password2": new, "usable_password": "true"}
    assert client.post("/admin/auth/user/add/", add).status_code == 302
    patch.setenv("AGENT_PASSWORD", canaries.add("password", token()))
    call_command("create_agent", "ada")
    switch_on_phone(client, canaries, password=new)

    def fail(*_: object, **options: object) -> None:
        raise RuntimeError("for a test")

    with patch.context() as broken:
        broken.setattr(second_factor, "remove_devices", fail)
        assert client.post(ACCOUNT, {"password": new}).status_code == 500
        broken.setattr("django.contrib.auth.models.User.check_password", fail)
        assert client.post(PASSWORD_PAGE, changed).status_code == 500
        assert (
            Client(raise_request_exception=False)
            .post("/admin/login/", {"username": "olga", "password": new})
            .status_code
            == 500
        )
    return client


def switch_on_phone(client: Client, canaries: Canaries, *, password: str) -> None:
    client.post(ACCOUNT, {"begin": "1", "password": password})
    html = client.get(ACCOUNT).content.decode()
    key_text = re.search(r"<code>(\w+)</code>", html)[1]
    key = b32decode(canaries.add("key of a phone", key_text))
    canaries.add("key of a phone", key.hex())
    html = client.post(ACCOUNT, {"code": f"{totp(key):06}"}).content.decode()
    for code in re.findall(r"<li>(\w{12})</li>", html):
        canaries.add("recovery code", code)


def look_at_pages(client: Client, canaries: Canaries) -> None:
    """Search the pages of models that contain secrets, or that log actions with secrets."""
    for model in (Webhook, Delivery, User, Company, AccessAttempt, AccessLog):
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        addresses = [reverse(f"{name}_changelist")]
        for row in model._default_manager.order_by("-pk")[:1]:
            addresses += [
                reverse(f"{name}_{page}", args=[row.pk]) for page in ("change", "history")
            ]
        for address in addresses:
            answer = client.get(address)
            assert answer.status_code == 200, address
            canaries.look(f"page {address}", answer.content)
    for address in ["/admin/webhooks/webhook/sick/", ACCOUNT, "/admin/"]:
        canaries.look(f"page {address}", client.get(address).content)


def make_deliveries(company: Company, receiver: Receiver, canaries: Canaries, to: Policy) -> None:
    """Make deliveries: some are accepted, and one is refused."""
    receiver.answer = lambda received: Answer(500 if received.path == "/no" else 200, body=b"ok")
    for path in ("/yes", "/no"):
        build.webhook(
            company,
            url=f"{receiver.url}{path}",
            secret=canaries.add("signing secret", token_hex(32)),
            auth_token=canaries.add("delivery token", token()),
        )
    publishing.publish([build.news(company, 77)])
    deliver(to)
    assert {received.path for received in receiver.log} >= {"/yes", "/no"}


def look_everywhere(
    canaries: Canaries, client: Client, log: pytest.LogCaptureFixture, emails: list[Any]
) -> None:
    look_at_pages(client, canaries)
    for address in ("/metrics", "/readyz", "/schema"):
        canaries.look(address, client.get(address).content)
    canaries.look("log", log.text)
    as_json = log_lines.formatter("json")
    canaries.look("log as JSON", "\n".join(map(as_json.format, log.records)))
    canaries.look_at_emails(emails)
    canaries.look_at_tables()


def test_no_secret_is_found_where_it_does_not_belong(
    company: Company,
    birch: Company,
    api: APIClient,
    canaries: Canaries,
    watched: pytest.LogCaptureFixture,
    mailoutbox: list[Any],
    monkeypatch: pytest.MonkeyPatch,
    receiver: Receiver,
    loopback: Policy,
) -> None:
    stock = Stock(api, {"acme": owned(company, 4101), "birch": owned(birch, 9)})
    make_deliveries(company, receiver, canaries, loopback)

    answers = call_all(stock, canaries)
    call_all(Stock(api, {"acme": owned(company, 4102)}), canaries, **{"Idempotency-Key": "key"})
    call_wrongly(stock, canaries, monkeypatch)
    feed_as_the_platform(canaries)
    client = work_at_the_desk(canaries, monkeypatch)
    look_everywhere(canaries, client, watched, mailoutbox)

    assert canaries.leaks() == set()
    # It has called and searched everything that it claims to.
    assert {name for name, answer in answers.items() if answer.status_code == 200} == {
        str(each) for each in operations()
    }
    assert canaries.secrets.keys() == {
        "API token",
        "platform token",
        "signing secret",
        "delivery token",
        "password",
        "key of a phone",
        "recovery code",
    }
    searched = {place for place, text in canaries.places if text}
    assert searched >= {
        "log",
        "log as JSON",
        "error mail",
        "/metrics",
        "table companies_keptanswer",
    }
    assert Webhook.objects.exists()
    assert Delivery.objects.exists()


BREAKS = {
    "a field that encrypts nothing": (
        lambda patch: patch.setattr(encryption, "encrypt", lambda text: text),
        {
            ("signing secret", "table webhooks_webhook"),
            ("delivery token", "table webhooks_webhook"),
        },
    ),
    "an answer that is kept as it is": (
        lambda patch: patch.setattr(
            idempotency, "body_columns", lambda body: {"body": body, "secret_body": None}
        ),
        {("signing secret", "table companies_keptanswer")},
    ),
}


@pytest.mark.parametrize("breaks", BREAKS)
def test_a_secret_that_gets_out_is_found(
    company: Company,
    api: APIClient,
    canaries: Canaries,
    watched: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    breaks: str,
) -> None:
    make_break, expected = BREAKS[breaks]
    make_break(monkeypatch)

    body = {
        "url": "https://hooks.example.com/canary",
        "auth_token": canaries.add("delivery token", token()),
    }
    answer = api.post("/webhooks", body, headers={"Idempotency-Key": "one"})
    canaries.add("signing secret", answer.json()["data"]["secret"])
    canaries.look_at_tables()

    assert canaries.leaks() >= expected


@pytest.mark.parametrize(
    "text",
    [
        "a canary-0123456789 b",
        "63616e6172792d30313233343536373839",
        "eyJhIjoiY2FuYXJ5LTAxMjM0NTY3ODkifQ==",
    ],
)
def test_a_secret_is_found_however_it_is_written(canaries: Canaries, text: str) -> None:
    canaries.add("password", "canary-0123456789")
    canaries.look("somewhere", text)

    assert canaries.leaks() == {("password", "somewhere")}
