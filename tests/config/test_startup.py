"""Every unsafe setting stops every process, and the manual's table says so."""

import logging
import os
import re
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from celery import current_app
from celery.signals import celeryd_init
from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from pytest_django import Settings

from config import startup
from config.environment import Environment
from config.server import Worker
from core.data import database
from core.watch.checks import SETTINGS
from tests.keys import new_key

ROOT = Path(__file__).resolve().parent.parent.parent
PRODUCTION: dict[str, Any] = {
    "ENVIRONMENT": "production",
    "DEBUG": False,
    "ALLOWED_HOSTS": ["desk.acme.example"],
    "CSRF_TRUSTED_ORIGINS": ["https://desk.acme.example"],
    "SESSION_COOKIE_SECURE": True,
    "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
    "EMAIL_HOST": "mail.acme.example",
    "DEFAULT_FROM_EMAIL": "Acme <desk@acme.example>",
    "WEBHOOK_ALLOWED_NETWORKS": (),
    "WEBHOOK_ALLOW_HTTP": False,
    "FILES_DIR": "/srv/parceldesk/files",
}
CONSOLE = "django.core.mail.backends.console.EmailBackend"
# Cases: settings in production, and the check that reports them.
ISSUER = "https://login.example.com/realms/support"
UNSAFE: list[tuple[dict[str, Any], str]] = [
    ({"FIELD_KEYS": []}, "config.E001"),
    ({"FIELD_KEYS": ["not a key"]}, "config.E002"),
    ({"FIELD_KEYS": [new_key(), new_key()[:-2]]}, "config.E002"),
    ({"ENVIRONMENT": "staging"}, "config.E003"),
    ({"WEBHOOK_ALLOW_HTTP": True}, "config.E004"),
    ({"WEBHOOK_ALLOWED_NETWORKS": ("10.0.0.0/8",)}, "config.E004"),
    ({"DEBUG": True}, "config.E004"),
    ({"SECRET_KEY": ""}, "config.E005"),
    ({"SECRET_KEY": "abc"}, "config.E005"),
    ({"SECRET_KEY": "ab1!" * 20}, "config.E005"),
    ({"SECRET_KEY": "change-me-" * 7}, "config.E005"),
    ({"SECRET_KEY": f"django-insecure-{'aB3_' * 10}"}, "config.E005"),
    ({"EMAIL_USE_TLS": True, "EMAIL_USE_SSL": True}, "config.E006"),
    ({"CELERY_BROKER_URL": "http://broker.acme.example"}, "config.E009"),
    ({"CELERY_BROKER_URL": ""}, "config.E009"),
    ({"ALLOWED_HOSTS": []}, "config.E010"),
    ({"CSRF_TRUSTED_ORIGINS": ["desk.acme.example"]}, "config.E011"),
    ({"PROXY_COUNT": -1}, "config.E012"),
    ({"LOG_LEVEL": "LOUD"}, "config.E013"),
    ({"EMAIL_BACKEND": "acme.mail.Backend"}, "config.E014"),
    ({"EMAIL_PORT": 70000}, "config.E015"),
    ({"EMAIL_TIMEOUT": 0.0}, "config.E015"),
    ({"DEFAULT_FROM_EMAIL": "desk"}, "config.E016"),
    ({"CACHE_URL": "memcache://cache.acme.example"}, "config.E017"),
    ({"RATE_LIMITS": {"read": 0, "write": 1, "send": 1}}, "config.E018"),
    ({"RELEVANCE_CHECK": "acme.relevance.check"}, "config.E019"),
    ({"RELEVANCE_CHECK": "tickets.relevance.COURTESY"}, "config.E019"),
    ({"DESK_LANGUAGE": "zxx"}, "config.E030"),
    ({"DESK_TIME_ZONE": "Mars/Base"}, "config.E034"),
    ({"DESK_TIME_ZONE": "../etc/passwd"}, "config.E034"),
    ({"APPEAL_DAYS": 0}, "config.E033"),
    ({"CARRIER_PAGES": [("Acme", "http://acme.example/{number}")]}, "config.E035"),
    ({"CARRIER_PAGES": [("Acme", "javascript:alert({number})")]}, "config.E035"),
    ({"CARRIER_PAGES": [("Acme", "https://{number}.example")]}, "config.E035"),
    ({"CARRIER_PAGES": [("", "https://acme.example")]}, "config.E035"),
    ({"UNDO_SECONDS": 61}, "config.E036"),
    ({"PUBLIC_URL": "desk.acme.example"}, "config.E037"),
    ({"PUBLIC_URL": "https://desk.acme.example/c"}, "config.E037"),
    ({"PUBLIC_URL": "https://us@desk.acme.example"}, "config.E037"),
    ({"PUBLIC_URL": "https://desk.acme.example\nX: y"}, "config.E037"),
    ({"LINK_LIFETIME": timedelta(0)}, "config.E038"),
    ({"KEEP_DAYS": {"deliveries": -1}}, "config.E025"),
    ({"KEEP_DAYS": {"audit": 89}}, "config.E025"),
    ({"DELIVERY_CA_BUNDLE": "/nowhere/ca.pem"}, "config.E020"),
    ({"DELIVERY_CA_BUNDLE": __file__}, "config.E020"),
    ({"DELIVERY_PROXY": "https://proxy.example.com"}, "config.E024"),
    ({"DELIVERY_PROXY": "http://u:secret@:80"}, "config.E024"),
    ({"DELIVERY_TIMEOUT_SECONDS": 0.0}, "config.E021"),
    ({"DELIVERY_TIMEOUT_SECONDS": float("nan")}, "config.E021"),
    ({"DELIVERY_TIMEOUT_SECONDS": 3600.0}, "config.E021"),
    ({"DELIVERY_RETRY_SECONDS": ()}, "config.E022"),
    ({"DELIVERY_RETRY_SECONDS": (5.0, -1.0)}, "config.E022"),
    ({"FILE_STORAGE": "acme.storage.Bucket"}, "config.E031"),
    ({"FILE_SCANNER": "acme.scanner.scan"}, "config.E032"),
    ({"FILE_SCANNER": "tickets.relevance.COURTESY"}, "config.E032"),
    ({"LOG_FORMAT": "xml"}, "config.E040"),
    ({"LOG_ATTEMPTS": "some"}, "config.E041"),
    ({"OTEL_EXPORTER_OTLP_ENDPOINT": "collector.internal:4318"}, "config.E042"),
    ({"SENTRY_DSN": "https://sentry.example.com/7"}, "config.E043"),
    ({"OIDC_ISSUER": ISSUER}, "config.E050"),
    ({"OIDC_ONLY": True}, "config.E050"),
    ({"OIDC_ISSUER": ISSUER.replace("https", "http")}, "config.E051"),
    ({"OIDC_ISSUER": f"{ISSUER}/.well-known/openid-configuration"}, "config.E051"),
    ({"OIDC_GROUPS_CLAIM": "groups"}, "config.E052"),
    ({"OIDC_ROLES": [("support", "boss")]}, "config.E052"),
    ({"OIDC_CREATE_USERS": True}, "config.E053"),
    ({"OIDC_SECOND_FACTOR": "nobody"}, "config.E054"),
    ({"UNREADABLE": {"DELIVERY_LOOPS": "DELIVERY_LOOPS is 'two'."}}, "config.E008"),
    ({"DELIVERY_LOOPS": 0}, "config.E023"),
    ({"DELIVERY_LOOPS": 1000}, "config.E023"),
]
UNWISE: list[tuple[dict[str, Any], str]] = [
    (
        {"CACHES": {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}},
        "config.W001",
    ),
    ({"ALLOWED_HOSTS": ["*"]}, "config.W002"),
    ({"SESSION_COOKIE_SECURE": False}, "config.W003"),
    ({"EMAIL_BACKEND": CONSOLE}, "config.W004"),
    ({"DEFAULT_FROM_EMAIL": "parceldesk@localhost"}, "config.W005"),
    ({"KEEP_DAYS": {"deliveries": 0, "tracking": 29}}, "config.W006"),
    ({"FILES_DIR": "/tmp/files"}, "config.W031"),  # noqa: S108
]


def start_worker() -> None:
    celeryd_init.send(sender="worker", instance=None, conf=current_app.conf)


PROCESSES = {
    "web": Worker.setup,
    "worker": start_worker,
}


@pytest.fixture
def production(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in PRODUCTION.items():
        setattr(settings, name, value)
    monkeypatch.setattr(database, "wait_at_most", lambda seconds: None)
    monkeypatch.setattr(startup, "printed_warnings", set())
    # Once a server has run in this process, gunicorn's logger does not propagate, and pytest adds
    # its own handlers there. With our filters they would drop lines of later tests.
    monkeypatch.setattr(logging.getLogger("gunicorn.error"), "propagate", True)
    return settings


def case_name(case: tuple[dict[str, Any], str]) -> str:
    return f"{case[1]} {' '.join(case[0])}"


@pytest.mark.parametrize("process", PROCESSES)
@pytest.mark.parametrize("case", UNSAFE, ids=case_name)
def test_no_process_starts_on_an_unsafe_setting(
    production: Settings,
    capsys: pytest.CaptureFixture[str],
    case: tuple[dict[str, Any], str],
    process: str,
) -> None:
    changes, id = case
    for name, value in changes.items():
        setattr(production, name, value)

    with pytest.raises(SystemExit) as stopped:
        PROCESSES[process]()

    output = capsys.readouterr().err
    assert stopped.value.code == 4
    assert output.startswith("Not started. Change these settings:\n- config.E")
    assert f"- {id}: " in output


def test_invalid_log_level_is_reported_by_real_processes() -> None:
    """Check it in a process: logging is set up before any check runs."""
    celery = ["-m", "celery", "-q", "-A"]
    started = [
        subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env={**os.environ, "LOG_LEVEL": "LOUD"},
            capture_output=True,
            text=True,
            check=False,
        )
        for arguments in (
            [*celery, "config", "worker"],
            ["manage.py", "check"],
        )
    ]

    assert [each.returncode for each in started] == [4, 1]
    for each in started:
        assert "config.E013" in each.stderr
        assert "LOG_LEVEL is 'LOUD'." in each.stderr
        assert "Traceback" not in each.stderr


@pytest.mark.parametrize("case", UNSAFE, ids=case_name)
def test_no_command_runs_on_an_unsafe_setting(
    production: Settings, case: tuple[dict[str, Any], str]
) -> None:
    changes, id = case
    for name, value in changes.items():
        setattr(production, name, value)

    with pytest.raises(SystemCheckError, match=id):
        call_command("check", tags=[SETTINGS])


@pytest.mark.parametrize("process", PROCESSES)
@pytest.mark.parametrize("case", UNWISE, ids=case_name)
def test_an_unwise_setting_is_said_once_and_stops_nothing(
    production: Settings,
    capsys: pytest.CaptureFixture[str],
    case: tuple[dict[str, Any], str],
    process: str,
) -> None:
    changes, id = case
    for name, value in changes.items():
        setattr(production, name, value)

    PROCESSES[process]()
    startup.refuse_unsafe_settings()

    assert capsys.readouterr().err.count(f"- {id}: ") == 1


def test_safe_settings_are_passed_in_silence(
    production: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    for start in PROCESSES.values():
        start()

    assert capsys.readouterr().err == ""


def test_checks_of_settings_ask_nobody(production: Settings) -> None:
    """Run without the database, which this test has not requested, and without resolvable names."""
    production.EMAIL_HOST = "mail.invalid"

    assert run_checks(tags=[SETTINGS]) == []


def test_the_manual_has_every_check() -> None:
    manual = (ROOT / "docs" / "operating.md").read_text()
    table = manual.partition("\n## Startup checks\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(config\.\w+)` \| (\w+) \| (.+) \|$", table, re.MULTILINE)
    tried = {id: "stops" for _, id in UNSAFE} | {id: "warns" for _, id in UNWISE}
    # The database's checks run only in `migrate`.
    code = "".join(
        path.read_text()
        for app in ("core", "webhooks", "deliveries", "tickets", "portal", "desk", "config")
        for path in (ROOT / app).rglob("*checks.py")
    )

    assert {id: does for id, does, _ in rows} == tried
    assert set(re.findall(r"config\.[EW]\d+", code)) == set(tried)


@pytest.mark.parametrize(
    ("read", "value", "says"),
    [
        (lambda env: env.int("DELIVERY_LOOPS"), "two", "'two', which is not a whole number"),
        (lambda env: env.int("DELIVERY_LOOPS"), "2.5", "'2.5', which is not a whole number"),
        (lambda env: env.float("DELIVERY_LOOPS"), "5s", "'5s', which is not a number"),
        (lambda env: env.bool("DELIVERY_LOOPS"), "flase", "'flase', which is not true or false"),
        (
            lambda env: env.listed("DELIVERY_LOOPS", float, [], "a list of numbers"),
            "5,x",
            "'5,x', which is not a list of numbers",
        ),
    ],
)
def test_unparsable_variable_is_reported_by_name(
    monkeypatch: pytest.MonkeyPatch, read: Any, value: str, says: str
) -> None:
    monkeypatch.setenv("DELIVERY_LOOPS", value)

    with pytest.raises(ImproperlyConfigured) as refused:
        read(Environment())

    assert str(refused.value) == f"DELIVERY_LOOPS is {says}."


@pytest.mark.parametrize("address", ["", "mysql://root:hunter2@db/x", "db.internal/parceldesk"])
def test_a_database_s_address_is_postgresql_s_and_its_password_is_not_said(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("DATABASE_URL", address)

    with pytest.raises(ImproperlyConfigured) as refused:
        Environment().postgresql("DATABASE_URL")

    assert str(refused.value).startswith("DATABASE_URL is not the address of a PostgreSQL")
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("address", "host", "port"),
    [
        ("postgres://u@//var/run/postgresql/name", "/var/run/postgresql", ""),
        ("postgres://u@//var/run/postgresql:7432/name", "/var/run/postgresql", "7432"),
        ("postgres://u@//var/run/postgresql/name?port=7432", "/var/run/postgresql", ""),
        ("postgres://u@//run/a:7432,/run/b:7433/name", "/run/a,/run/b", "7432,7433"),
        ("postgres://u@db.internal:7432/name", "db.internal", 7432),
    ],
)
def test_a_socket_may_have_another_port(
    monkeypatch: pytest.MonkeyPatch, address: str, host: str, port: str | int
) -> None:
    monkeypatch.setenv("DATABASE_URL", address)

    options = Environment().postgresql("DATABASE_URL")

    assert (options["HOST"], options["PORT"], options["NAME"]) == (host, port, "name")
    if "?port" in address:
        assert options["OPTIONS"] == {"port": 7432}


@pytest.mark.parametrize(
    ("text", "flag"), [("true", True), ("ON", True), ("1", True), ("0", False), ("", False)]
)
def test_flags_are_read(monkeypatch: pytest.MonkeyPatch, text: str, flag: bool) -> None:
    monkeypatch.setenv("HTTPS", text)

    assert Environment().bool("HTTPS") is flag
