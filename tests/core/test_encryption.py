"""Secrets at rest: encrypted, decrypted on reading, and typed as secrets."""

import logging

import pytest
from django.db import connection
from pytest_django import Settings

from companies.models import Company
from core.data import encryption
from core.data.encryption import SecretText, UnreadableSecret
from tests import builders as build
from tests.keys import lose_keys
from webhooks.models import Webhook

pytestmark = pytest.mark.django_db
SECRET = "5e" * 32


@pytest.fixture
def webhook(company: Company) -> Webhook:
    return Webhook.objects.get(pk=build.webhook(company, auth_token="hush-hush").pk)


def stored(column: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {column} FROM webhooks_webhook")  # noqa: S608 - our own text
        return cursor.fetchone()[0]


def test_a_secret_is_text_in_python_and_ciphertext_in_the_row(webhook: Webhook) -> None:
    assert webhook.secret == SECRET
    assert SECRET not in stored("secret")
    assert encryption.decrypt(stored("secret")) == SECRET


def test_a_row_whose_secret_no_key_opens_is_loaded_and_saved_as_it_is(
    webhook: Webhook, settings: Settings
) -> None:
    before = stored("secret")
    lost = lose_keys(settings)
    same = Webhook.objects.get()

    same.url = "https://hooks.example.com/other"
    same.save()
    with pytest.raises(UnreadableSecret):
        _ = same.secret

    assert stored("secret") == before
    settings.FIELD_KEYS = lost
    row = Webhook.objects.get()
    assert (row.secret, row.url) == (SECRET, same.url)


def test_saving_a_row_leaves_a_secret_that_nobody_changed(webhook: Webhook) -> None:
    before = stored("secret")
    assert webhook.secret == SECRET

    webhook.save()

    assert stored("secret") == before


def test_a_secret_that_is_read_or_set_is_known_by_its_class(webhook: Webhook) -> None:
    fresh = Webhook(secret="new")

    assert isinstance(webhook.secret, SecretText)
    assert isinstance(fresh.secret, SecretText)
    assert fresh.secret == "new"


def test_a_deferred_secret_is_read_when_it_is_asked_for(webhook: Webhook) -> None:
    assert Webhook.objects.defer("secret").get().secret == SECRET


def test_a_secret_does_not_show_where_values_are_shown(
    webhook: Webhook, caplog: pytest.LogCaptureFixture
) -> None:
    logging.getLogger("test").error("found %r in %s", webhook.secret, [webhook.auth_token])

    assert SECRET not in caplog.text
    assert "hush-hush" not in caplog.text
