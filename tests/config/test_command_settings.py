"""Commands stop on wrong settings that they use, and on no others."""

import re
from typing import Any

import pytest
from django.core.management.base import SystemCheckError
from django.db import connection
from django.test import override_settings
from pytest_django import Settings

from companies import services
from companies.models import Company
from config.command_settings import EVERYTHING, MORE, Commands
from tests.config.test_settings import manage
from tests.config.test_startup import PRODUCTION, UNSAFE, UNWISE
from tests.test_docs import OURS

FILES = {"config.E031"}
LANGUAGE = {"config.E030", "config.E034"}
TICKETS = {"config.E019", "config.E033", "config.E036", "config.E037", "config.E038"}
SIGN_ON = {"config.E050", "config.E051", "config.E052", "config.E053", "config.E054"}
ALL_STOP = {"config.E001", "config.E002", "config.E005"}
ALSO_STOPS: dict[str, set[str]] = {
    "anonymise": FILES,
    "automations": TICKETS,
    "create_company": LANGUAGE,
    "decide_appeal": TICKETS,
    "erase_company": FILES,
    "export_company": FILES,
    "import_agents": LANGUAGE | SIGN_ON,
    "issue_platform_token": {"config.E003"},
    "issue_token": {"config.E003"},
    "prune": FILES | {"config.E025"},
}
UNCHECKED = {"diffsettings", "doctor", "shell"}
DJANGO_S = ("axes_reset_username", "createsuperuser", "shell")
# Every variable except the keys that can be wrong and still lets the settings load.
WRONG = {
    "ALLOWED_HOSTS": "",
    "APPEAL_DAYS": "0",
    "UNDO_SECONDS": "61",
    "BROKER_URL": "http://broker.acme.example",
    "CARRIER_PAGES": "Acme=http://acme.example",
    "CACHE_URL": "memcache://cache.acme.example",
    "CONNECTIONS_PER_ADDRESS": "many",
    "CSRF_TRUSTED_ORIGINS": "desk.acme.example",
    "DEBUG": "flase",
    "DELIVERY_CA_BUNDLE": "/nowhere/ca.pem",
    "DELIVERY_LOOPS": "two",
    "DELIVERY_PROXY": "https://proxy.example.com",
    "DELIVERY_RETRY_SECONDS": "5,x",
    "DELIVERY_TIMEOUT_SECONDS": "5s",
    "EMAIL_BACKEND": "acme.mail.Backend",
    "EMAIL_FROM": "desk",
    "EMAIL_PORT": "smtp",
    "ENVIRONMENT": "staging",
    "FILE_SCANNER": "acme.scanner.scan",
    "FILE_STORAGE": "acme.storage.Bucket",
    "FILE_STORAGE_OPTIONS": "{",
    "HTTPS": "flase",
    "KEEP_AUDIT_DAYS": "1",
    "KEEP_DELIVERIES_DAYS": "ten",
    "LANGUAGE_CODE": "zxx",
    "LINK_DAYS": "0",
    "LOG_ATTEMPTS": "some",
    "LOG_FORMAT": "xml",
    "LOG_LEVEL": "LOUD",
    "OIDC_ISSUER": "http://login.example.com",
    "OIDC_ROLES": "support=boss",
    "OTEL_EXPORTER_OTLP_ENDPOINT": "collector.internal:4318",
    "PROXY_ADDRESSES": "proxy.internal",
    "PROXY_COUNT": "-1",
    "PUBLIC_URL": "desk.acme.example",
    "RATE_LIMIT_READ": "0",
    "RELEVANCE_CHECK": "acme.relevance.check",
    "SENDER_ADDRESSES": "us",
    "SENTRY_DSN": "https://sentry.example.com/7",
    "TIME_ZONE": "Mars/Base",
    "WEBHOOK_ALLOW_HTTP": "true",
}


def stops(name: str) -> set[str]:
    """Return the ids of the checks that stop a command under the current settings."""
    command = Commands(["manage.py", name]).fetch_command(name)
    try:
        if command.requires_system_checks:
            command.check(tags=command.requires_system_checks)
    except SystemCheckError as error:
        return set(re.findall(r"config\.[EW]\d+", str(error)))
    return set()


@pytest.mark.parametrize("name", [*OURS, *DJANGO_S])
def test_each_wrong_setting_stops_only_the_commands_that_use_it(
    name: str,
) -> None:
    expected = set() if name in UNCHECKED else ALL_STOP | ALSO_STOPS.get(name, set())
    stopping_ids: set[str] = set()
    for changes, id in [*UNSAFE, *UNWISE]:
        with override_settings(**{**PRODUCTION, "UNREADABLE": {}, **changes}):
            stopping_ids |= stops(name) & {id}

    assert stopping_ids == expected


def test_the_table_names_commands_that_exist() -> None:
    assert set(MORE) <= set(OURS)
    assert "check" in EVERYTHING


@pytest.mark.parametrize(
    ("name", "problem"),
    [("prune", "KEEP_DELIVERIES_DAYS"), ("export_company", "FILE_STORAGE_OPTIONS")],
)
def test_a_value_that_cannot_be_read_stops_the_command_that_uses_it(
    settings: Settings, name: str, problem: str
) -> None:
    settings.UNREADABLE = {problem: f"{problem} is 'x', which is not a whole number."}

    assert stops(name) == {"config.E008"}
    assert stops("revoke_token") == set()


@pytest.mark.slow
def test_an_emergency_is_dealt_with_while_every_other_setting_is_wrong(
    transactional_db: None,
) -> None:
    company = Company.objects.create(name="Acme")
    token = services.issue_token(company.pk)
    wrong: dict[str, Any] = {**WRONG, "DATABASE_URL": own_database()}
    for line, printed in [
        (f"list_tokens --company {company.pk}", token[:8]),
        (f"revoke_token --company {company.pk}", "revoked"),
        ("queue", "waiting"),
        ("hold_host hooks.example.com --reason leak", "hooks.example.com"),
        ("hold_host --list", "leak"),
        ("release_host hooks.example.com", "hooks.example.com"),
        ("drain --reason leak", ""),
        ("resume", ""),
        ("redeliver --list", ""),
        ("audit", "revoke_token"),
        ("list_companies", "Acme"),
        ("end_sessions nobody --dry-run", "nobody"),
    ]:
        ran = manage(*line.split(), **wrong)
        assert "Traceback" not in ran.stderr, ran.stderr
        assert "config." not in ran.stderr, (line, ran.stderr)
        assert printed in ran.stdout + ran.stderr, (line, ran.stdout, ran.stderr)

    checked = manage("check", **wrong)
    assert checked.returncode == 1
    assert {"config.E008", "config.E014", "config.E020"} <= set(
        re.findall(r"config\.E\d+", checked.stderr)
    )


def own_database() -> str:
    words = connection.settings_dict
    return f"postgres://{words['USER']}@/{words['HOST']}/{words['NAME']}"
