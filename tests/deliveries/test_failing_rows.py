"""A webhook, an email or a table that a job fails on harms only itself."""

from datetime import timedelta
from smtplib import SMTPRecipientsRefused

import pytest
from django.db import DataError
from django.utils import timezone

from companies.models import Company
from core.mailing import outbox
from core.mailing.jobs import send_mails
from core.models import FailedRow, Mail
from deliveries import jobs, publishing
from deliveries.engine import pausing
from deliveries.models import Delivery, Health, State
from deliveries.upkeep import deleted_webhooks
from tests import builders as build
from webhooks.models import Webhook


def failed() -> list[tuple[str, str, str]]:
    return list(FailedRow.objects.order_by("pk").values_list("job", "kind", "key"))


def test_the_other_webhooks_are_paused(company: Company, monkeypatch: pytest.MonkeyPatch) -> None:
    webhooks = [build.webhook(company) for _ in range(3)]
    long_ago = timezone.now() - timedelta(days=6)
    for webhook in webhooks:
        Health.objects.create(webhook=webhook, failures=9, failing_since=long_ago)
    pause = pausing.pause_and_notify

    def fail(webhook_id: int, reason: str) -> bool:
        paused = pause(webhook_id, reason)
        if webhook_id == webhooks[0].pk:
            raise ZeroDivisionError
        return paused

    monkeypatch.setattr(pausing, "pause_and_notify", fail)

    assert jobs.pause_failing() == 2
    ids = [webhook.pk for webhook in webhooks]
    assert Webhook.objects.get(active=True, pk__in=ids) == webhooks[0]
    assert failed() == [("pause_failing", "webhook", str(webhooks[0].pk))]


def test_the_deliveries_of_other_deleted_webhooks_are_cancelled(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhooks = [build.webhook(company) for _ in range(3)]
    publishing.publish([build.news(company)])
    Webhook.objects.update(deleted_at=timezone.now(), active=False)
    by_zero = f"webhook_id = %s AND 1 / (webhook_id - {webhooks[0].pk}) IS NOT NULL"
    failing = deleted_webhooks.CANCEL.replace("webhook_id = %s", by_zero)
    monkeypatch.setattr(deleted_webhooks, "CANCEL", failing)

    assert jobs.sweep() == 2
    assert Delivery.objects.get(state=State.WAITING).webhook == webhooks[0]
    assert failed() == [("sweep", "webhook", str(webhooks[0].pk))]


def test_an_email_that_the_server_refuses_keeps_no_other(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("bad", "good"):
        outbox.enqueue_mail(f"{name}@acme.example", "Letter", "Text")

    def refuse_one(mail: outbox.ClaimedMail) -> None:
        if mail.address.startswith("bad"):
            raise SMTPRecipientsRefused({mail.address: (550, b"no such user")})

    monkeypatch.setattr(outbox, "submit_mail", refuse_one)

    assert send_mails() == 1
    remaining = Mail.objects.get()
    assert remaining.address == "bad@acme.example"
    assert failed() == [("send_mails", "email", str(remaining.pk))]


def test_an_error_of_the_database_about_one_row_is_that_row_s(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhook = build.webhook(company)
    long_ago = timezone.now() - timedelta(days=6)
    Health.objects.create(webhook=webhook, failures=9, failing_since=long_ago)

    def refuse(*_: object) -> bool:
        raise DataError("value too long")

    monkeypatch.setattr(pausing, "pause_and_notify", refuse)

    assert jobs.pause_failing() == 0
    assert FailedRow.objects.get().error == "DataError: value too long"
