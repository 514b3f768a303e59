"""The command `reencrypt`, and the change of keys that docs/operating.md describes."""

import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings
from rest_framework.test import APIClient

from companies.models import Company
from core.data import reencryption
from tests import builders as build
from tests.keys import new_key
from webhooks.models import Webhook

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parent.parent.parent
TOKEN = "hush-hush"


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def reencrypt(*options: str) -> dict[str, Any]:
    out = StringIO()
    call_command("reencrypt", "--json", *options, stdout=out)
    return json.loads(out.getvalue())


@pytest.fixture
def webhooks(company: Company) -> list[Webhook]:
    """Create webhooks with seven secrets: two or three each."""
    signed = [build.webhook(company, auth_token=f"{TOKEN}-{n}") for n in range(3)]
    return [*signed, build.webhook(company, type_id=1, auth_token=TOKEN)]


@pytest.fixture
def keys(webhooks: list[Webhook], settings: Settings) -> list[str]:
    """Put a new key in front of the one that encrypted all of them."""
    settings.FIELD_KEYS = [new_key(), *settings.FIELD_KEYS]
    return settings.FIELD_KEYS


def test_every_secret_is_encrypted_with_the_newest_key(keys: list[str], settings: Settings) -> None:
    times = set(Webhook.objects.values_list("updated_at", flat=True))

    assert reencrypt() == {
        "rewritten": 7,
        "by_key": [7, 0],
        "unreadable": 0,
        "unreadable_rows": [],
    }

    settings.FIELD_KEYS = keys[:1]
    rows = Webhook.objects.order_by("pk")
    assert [each.auth_token for each in rows] == [*(f"{TOKEN}-{n}" for n in range(3)), TOKEN]
    assert [each.secret for each in rows] == [*["5e" * 32] * 3, None]
    assert set(Webhook.objects.values_list("updated_at", flat=True)) == times


def test_a_dry_run_counts_and_changes_nothing(keys: list[str]) -> None:
    assert reencrypt("--dry-run")["by_key"] == [0, 7]
    assert reencrypt("--dry-run")["by_key"] == [0, 7]


def test_reencrypted_secrets_are_skipped(keys: list[str]) -> None:
    assert reencrypt()["rewritten"] == 7
    before = list(Webhook.objects.values_list("secret", "auth_token"))

    assert reencrypt()["rewritten"] == 0

    after = list(Webhook.objects.values_list("secret", "auth_token"))
    assert after == before


def test_interrupted_run_resumes(keys: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reencryption, "BATCH", 1)
    lines: list[str] = []

    def stop_after_two(text: str) -> None:
        lines.append(text)
        if len(lines) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reencryption.reencrypt_all(stop_after_two)
    assert reencrypt("--dry-run")["by_key"] == [4, 3]

    assert reencrypt()["rewritten"] == 3


def test_a_secret_that_changes_meanwhile_is_not_put_back(
    keys: list[str], webhooks: list[Webhook], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Race: the company sets a new token between the read of a batch and its lock."""
    rewrite = reencryption.rewrite

    def change_first(model: Any, names: list[str], chosen: list[Any]) -> int:
        if model is Webhook:
            Webhook.objects.filter(pk=webhooks[0].pk).update(auth_token="changed")
        return rewrite(model, names, chosen)

    monkeypatch.setattr(reencryption, "rewrite", change_first)

    assert reencrypt()["rewritten"] == 6
    assert Webhook.objects.get(pk=webhooks[0].pk).auth_token == "changed"


def test_undecryptable_secret_is_named_and_kept(
    keys: list[str], webhooks: list[Webhook], settings: Settings
) -> None:
    out = StringIO()
    settings.FIELD_KEYS = keys[:1]

    with pytest.raises(CommandError, match="7 secrets are not encrypted with the newest key"):
        call_command("reencrypt", stdout=out)

    assert "no key opens 7" in out.getvalue()
    assert f"webhook {webhooks[0].pk}" in out.getvalue()
    settings.FIELD_KEYS = keys
    assert reencrypt()["rewritten"] == 7


def test_progress_is_shown_on_a_terminal(keys: list[str]) -> None:
    quiet, watched = StringIO(), Terminal()

    call_command("reencrypt", "--dry-run", stdout=quiet)
    call_command("reencrypt", stdout=watched)

    assert "\r" not in quiet.getvalue()
    assert "key 2 of FIELD_KEYS opens 7" in quiet.getvalue().splitlines()
    assert "webhooks: 7 rewritten" in watched.getvalue()
    assert watched.getvalue().splitlines()[-1] == "no key opens 0"


def steps() -> list[str]:
    """Return the steps of the manual's procedure."""
    manual = (ROOT / "docs" / "operating.md").read_text()
    text = manual.partition("\n## Keys\n")[2].partition("\n## ")[0]
    return re.findall(r"^\d\. (.*(?:\n   .*)*)", text, re.MULTILINE)


def test_the_manual_s_change_of_keys_loses_nothing(
    api: APIClient, webhooks: list[Webhook], settings: Settings
) -> None:
    """Run each step as written; meanwhile processes of the previous step read everything."""
    behind, in_front, rewrite, check, drop = steps()
    old, new = settings.FIELD_KEYS[0], new_key()

    def tokens() -> list[str]:
        return [each["auth_token"] for each in api.get("/webhooks").json()["data"]]

    def write() -> None:
        api.put(f"/webhooks/{webhooks[0].pk}", {"auth_token": "written-now"})

    assert "after" in behind
    settings.FIELD_KEYS = [old, new]
    write()
    assert "front" in in_front
    settings.FIELD_KEYS = [new, old]
    write()
    settings.FIELD_KEYS = [old, new]
    assert "…" not in tokens()
    settings.FIELD_KEYS = [new, old]
    assert "`python manage.py reencrypt`" in rewrite
    reencrypt()
    assert "`python manage.py reencrypt --dry-run`" in check
    assert reencrypt("--dry-run")["by_key"] == [7, 0]
    assert "Remove the old key" in drop
    settings.FIELD_KEYS = [new]
    assert tokens()[0] == "…-now"
    assert "…" not in tokens()
    assert all(each.secret for each in Webhook.objects.exclude(type_id=1))
