"""Emails are rows until they are sent: no outage loses one, and no loop waits for one."""

import socket
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta

import pytest
from django.conf import settings as configured
from django.core import mail
from django.core.mail import EmailMessage
from django.db import connection
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from companies.models import Company
from core.jobs import doorbell
from core.mailing import outbox
from core.mailing.jobs import send_mails
from core.models import Mail
from deliveries.engine import pausing
from deliveries.models import Health
from tests import builders as build
from tests.keys import lose_keys
from tests.tickets.racing import meanwhile
from webhooks.models import Webhook


@pytest.fixture
def webhook(company: Company) -> Webhook:
    company.contact_email = "dev@acme.example"
    company.save()
    return build.webhook(company)


@pytest.fixture
def silent_server(settings: Settings) -> Iterator[None]:
    """Run a mail server that accepts connections and never says a word."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = listening.getsockname()
        settings.EMAIL_TIMEOUT = 0.1
        yield


def make_mail_due() -> None:
    Mail.objects.update(due_at=timezone.now())


def test_a_pause_writes_its_email_and_sends_none(webhook: Webhook, mailoutbox: list) -> None:
    pausing.pause_gone(webhook.pk)
    pausing.pause_gone(webhook.pk)

    assert mailoutbox == []
    assert Mail.objects.values_list("address", "subject").get() == (
        "dev@acme.example",
        f"Webhook {webhook.pk} is paused",
    )
    assert send_mails() == 1
    assert send_mails() == 0
    (message,) = mailoutbox
    assert message.to == ["dev@acme.example"]
    assert message.from_email == configured.DEFAULT_FROM_EMAIL
    assert "The receiver answered 410 Gone." in message.body
    assert not Mail.objects.exists()


def test_a_pause_is_told_in_the_company_s_language(webhook: Webhook, company: Company) -> None:
    company.language = "es"
    company.save()

    pausing.pause_gone(webhook.pk)

    letter = Mail.objects.get()
    assert letter.subject == f"El webhook {webhook.pk} está en pausa"
    assert "El receptor respondió 410 Gone." in letter.text
    assert f"(PUT /webhooks/{webhook.pk})" in letter.text
    webhook.refresh_from_db()
    assert webhook.paused_reason == "The receiver answered 410 Gone."


def test_no_pause_without_its_email(webhook: Webhook, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("the disk is full")

    monkeypatch.setattr(outbox, "enqueue_mail", fail)

    with pytest.raises(RuntimeError):
        pausing.pause_gone(webhook.pk)

    webhook.refresh_from_db()
    assert webhook.active


def test_a_sweep_rings_and_an_engine_loop_does_not(
    webhook: Webhook,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    rings: list[str] = []
    monkeypatch.setattr(doorbell, "ring_job", lambda name, **_: rings.append(name))
    with django_capture_on_commit_callbacks(execute=True):
        pausing.pause_gone(webhook.pk)
    assert rings == []

    Webhook.objects.update(active=True)
    long_ago = timezone.now() - timedelta(days=6)
    Health.objects.create(webhook=webhook, failures=9, failing_since=long_ago)
    with django_capture_on_commit_callbacks(execute=True):
        assert pausing.pause_failing() == 1

    assert rings == ["send_mails"]


def test_silent_mail_server_costs_one_attempt_per_run(
    webhook: Webhook, silent_server: None, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(3):
        outbox.enqueue_mail("dev@acme.example", f"Letter {number}", "Text")

    assert send_mails() == 0

    assert sorted(Mail.objects.values_list("tries", flat=True)) == [0, 0, 1]
    (line,) = caplog.messages
    assert line.startswith('the email "Letter 0" was not sent (try 1 of 10): ')


def test_tries_again_with_growing_waits_for_a_day_and_gives_up(
    db: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(_: object) -> None:
        raise OSError("refused")

    monkeypatch.setattr(outbox, "submit_mail", refuse)
    outbox.enqueue_mail("dev@acme.example", "Letter", "Text")
    waits = []
    for _ in range(10):
        make_mail_due()
        tried_at = timezone.now()
        assert outbox.send_due() == 0
        waits.append(Mail.objects.get().due_at - tried_at)

    minutes = [round(wait / timedelta(minutes=1)) for wait in waits]
    assert minutes == [3, 6, 12, 24, 48, 96, 192, 384, 768, 3]
    assert timedelta(hours=24) < sum(waits[:-1], timedelta()) < timedelta(hours=26)
    assert outbox.send_due() == 0
    assert Mail.objects.exists()
    caplog.clear()

    make_mail_due()
    assert outbox.send_due() == 0

    assert caplog.messages == ['the email "Letter" is given up after 10 tries']
    assert not Mail.objects.exists()


def test_one_bad_email_does_not_keep_the_others(db: None, mailoutbox: list) -> None:
    outbox.enqueue_mail("dev@acme.example", "Two\nlines", "Text")
    outbox.enqueue_mail("dev@acme.example", "Letter", "Text")

    assert outbox.send_due() == 1

    assert [letter.subject for letter in mailoutbox] == ["Letter"]


def test_a_kill_while_sending_repeats_under_the_same_message_id_and_not_at_once(
    db: None, mailoutbox: list, monkeypatch: pytest.MonkeyPatch
) -> None:
    def send_and_die(letter: mail.EmailMessage) -> None:
        real(letter)
        raise KeyboardInterrupt

    real = outbox.submit_mail
    outbox.enqueue_mail("dev@acme.example", "Letter", "Text")
    with monkeypatch.context() as killed:
        killed.setattr(outbox, "submit_mail", send_and_die)
        with pytest.raises(KeyboardInterrupt):
            outbox.send_due()

    assert outbox.send_due() == 0
    assert Mail.objects.get().due_at > timezone.now() + timedelta(seconds=outbox.LIMIT_SECONDS)
    make_mail_due()
    assert outbox.send_due() == 1
    first, second = (letter.extra_headers["Message-ID"] for letter in mailoutbox)
    assert first == second


@pytest.mark.usefixtures("rows_to_keep")
def test_two_tasks_never_claim_the_same_email() -> None:
    outbox.enqueue_mail("dev@acme.example", "Hello", "Text")

    first, second = meanwhile(outbox.claim_mail, outbox.claim_mail)

    assert first is not None
    assert second is None


def test_a_text_with_a_link_that_opens_something_is_encrypted_until_it_is_sent(
    db: None, mailoutbox: list[EmailMessage]
) -> None:
    outbox.enqueue_mail("ada@desk.example", "A link", "Open /sesame/ now.", secret=True)
    assert "sesame" not in raw_mail()

    assert outbox.send_due() == 1

    assert mailoutbox[0].body == "Open /sesame/ now."
    assert not Mail.objects.exists()


def test_a_text_that_no_key_opens_keeps_no_other_email_back(
    db: None, mailoutbox: list[EmailMessage], settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    outbox.enqueue_mail("ada@desk.example", "A link", "Open /sesame/ now.", secret=True)
    outbox.enqueue_mail("dev@acme.example", "A letter", "Text")
    lose_keys(settings)

    assert outbox.send_due() == 1

    assert [one.subject for one in mailoutbox] == ["A letter"]
    assert 'the email "A link" was not sent (try 1 of 10): No key in FIELD_KEYS' in caplog.text


def raw_mail() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT core_mail::text FROM core_mail")
        return str(cursor.fetchall())
