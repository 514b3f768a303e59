"""Production settings, loaded in a process of their own."""

import json
import os
import re
import secrets
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from django.conf import settings
from django.test import Client

ROOT = Path(__file__).resolve().parent.parent.parent
RANDOM_KEY = secrets.token_urlsafe(64)


def variables(**changes: str | None) -> dict[str, str]:
    """Return the environment of a production process; None leaves a variable out."""
    values = {
        "ENV_FILE": "",
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "DATABASE_URL": os.environ["DATABASE_URL"],
        "BROKER_URL": os.environ["BROKER_URL"],
        "SECRET_KEY": RANDOM_KEY,
        "FIELD_KEYS": Fernet.generate_key().decode(),
        "ALLOWED_HOSTS": "desk.acme.example",
        "EMAIL_HOST": "mail.acme.example",
        "FILES_DIR": "/srv/parceldesk/files",
        "EMAIL_FROM": "desk@acme.example",
        **changes,
    }
    return {name: value for name, value in values.items() if value is not None}


def manage(*arguments: str, **changes: str | None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=variables(**changes),
        capture_output=True,
        text=True,
    )


def start(**changes: str | None) -> subprocess.CompletedProcess[str]:
    """Run the first step of web and worker, and nothing after it."""
    program = "import config.startup; config.startup.refuse_unsafe_settings(); print('serving')"
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=variables(DJANGO_SETTINGS_MODULE="config.settings", **changes),
        capture_output=True,
        text=True,
    )


def test_production_passes_the_deployment_check_in_silence() -> None:
    checked = manage("check", "--deploy", "--fail-level", "WARNING")

    assert checked.returncode == 0, checked.stderr
    assert checked.stdout == "System check identified no issues (0 silenced).\n"


def test_refuses_an_unsafe_configuration_before_it_does_anything() -> None:
    started = start(WEBHOOK_ALLOW_HTTP="true")

    assert (started.returncode, started.stdout) == (4, "")
    assert "config.E004" in started.stderr


def test_the_check_of_django_refuses_it_too() -> None:
    checked = manage("check", FIELD_KEYS="")

    assert checked.returncode == 1
    assert "config.E001" in checked.stderr
    assert "HINT" in checked.stderr


AMQP = "amqp://guest@mq.invalid//"


def test_warns_of_a_cache_that_is_not_shared() -> None:
    started = start(BROKER_URL=AMQP)

    assert (started.returncode, started.stdout) == (0, "serving\n")
    assert started.stderr.startswith("Consider these settings:\n- config.W001: The cache")
    assert "Set CACHE_URL" in started.stderr


@pytest.mark.parametrize(
    "cache", ["redis://cache.invalid:6379/0", "rediss://cache.invalid:6379/0", "unix:///run/cache"]
)
def test_does_not_warn_where_a_cache_is_named(cache: str) -> None:
    started = start(BROKER_URL=AMQP, CACHE_URL=cache)

    assert (started.returncode, started.stdout) == (0, "serving\n")
    assert "W001" not in started.stderr


@pytest.mark.parametrize("process", ["web", "worker"])
@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("SECRET_KEY", "", "config.E005: SECRET_KEY has 0 characters. Set it to at least 50"),
        ("DELIVERY_LOOPS", "two", "DELIVERY_LOOPS is 'two', which is not a whole number."),
    ],
)
def test_no_process_of_the_procfile_starts_on_unsafe_settings(
    process: str, variable: str, value: str, says: str
) -> None:
    (line,) = re.findall(rf"^{process}: (.*)", (ROOT / "Procfile").read_text(), re.MULTILINE)
    started = subprocess.run(
        ["/bin/sh", "-c", f"exec {line}"],
        cwd=ROOT,
        env=variables(**{variable: value}, BIND="127.0.0.1", PORT="0"),
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert started.returncode == 4
    assert says in started.stderr
    assert "Traceback" not in started.stderr


def test_safe_settings_pass_while_everything_else_is_away() -> None:
    started = start(
        DATABASE_URL="postgres://nobody@127.0.0.1:1/none",
        BROKER_URL="redis://127.0.0.1:1/0",
        EMAIL_HOST="mail.invalid",
    )

    assert (started.returncode, started.stdout) == (0, "serving\n")


def mail_settings(**environment: str) -> dict[str, object]:
    names = [
        "BACKEND",
        "HOST",
        "PORT",
        "HOST_USER",
        "HOST_PASSWORD",
        "USE_TLS",
        "USE_SSL",
        "TIMEOUT",
    ]
    program = (
        "import json; from django.conf import settings;"
        f"found = {{name: getattr(settings, 'EMAIL_' + name) for name in {names}}};"
        "print(json.dumps(found | {'FROM': settings.DEFAULT_FROM_EMAIL}))"
    )
    read = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=variables(DJANGO_SETTINGS_MODULE="config.settings", **environment),
        capture_output=True,
        check=True,
    )
    return json.loads(read.stdout)


def test_mail_is_printed_where_no_server_is_named() -> None:
    read = mail_settings(EMAIL_HOST="")

    assert read["BACKEND"] == "django.core.mail.backends.console.EmailBackend"
    assert read["TIMEOUT"] == 10


def test_mail_goes_where_the_environment_says() -> None:
    read = mail_settings(
        EMAIL_HOST="mail.acme.example",
        EMAIL_HOST_USER="parceldesk",
        EMAIL_HOST_PASSWORD="hunter2",
        EMAIL_FROM="Acme <desk@acme.example>",
    )

    assert read == {
        "BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "HOST": "mail.acme.example",
        "PORT": 587,
        "HOST_USER": "parceldesk",
        "HOST_PASSWORD": "hunter2",
        "USE_TLS": True,
        "USE_SSL": False,
        "TIMEOUT": 10,
        "FROM": "Acme <desk@acme.example>",
    }


@pytest.mark.parametrize(
    ("says", "port", "tls", "ssl"),
    [
        ({"EMAIL_USE_SSL": "true"}, 465, False, True),
        ({"EMAIL_USE_TLS": "false"}, 25, False, False),
        ({"EMAIL_PORT": "2525"}, 2525, True, False),
    ],
)
def test_mail_takes_tls_and_port_as_told(
    says: dict[str, str], port: int, tls: bool, ssl: bool
) -> None:
    read = mail_settings(EMAIL_HOST="mail.acme.example", **says)

    assert (read["PORT"], read["USE_TLS"], read["USE_SSL"]) == (port, tls, ssl)


@pytest.mark.parametrize("variable", ["SECRET_KEY", "DATABASE_URL", "BROKER_URL"])
def test_no_command_runs_without_what_it_needs(variable: str) -> None:
    checked = manage("check", **{variable: None})

    assert checked.returncode == 1
    assert checked.stderr.startswith("Not run. Change this setting:\n- ")
    assert variable in checked.stderr


def test_has_a_migration_for_every_change(db: None) -> None:
    checked = manage("makemigrations", "--check", "--dry-run")

    assert (checked.returncode, checked.stdout) == (0, "No changes detected\n")


def test_writes_down_every_variable(db: None) -> None:
    text = "".join(path.read_text() for path in (ROOT / "config" / "settings").glob("*.py"))
    read = set(re.findall(r'env\.\w+\(\s*"(\w+)"', text))
    described = (ROOT / ".env.example").read_text()
    manual = (ROOT / "docs" / "operating.md").read_text()

    assert {name for name in read if f"{name}=" not in described} == set()
    assert {name for name in read if f"`{name}`" not in manual} == set()


@pytest.mark.parametrize("path", ["/webhooks", "/nowhere", "/healthz", "/schema"])
def test_answers_carry_a_strict_policy(client: Client, db: None, path: str) -> None:
    answer = client.get(path)

    assert answer["Content-Security-Policy"].startswith("default-src 'none'")
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["X-Frame-Options"] == "DENY"


def test_pages_may_run_no_foreign_code(client: Client, db: None) -> None:
    policy = client.get("/admin/login/")["Content-Security-Policy"]

    assert "default-src 'self'" in policy
    assert "unsafe-inline" not in policy.partition("style-src")[0]
    assert settings.SESSION_COOKIE_HTTPONLY


PAGES = "import config.urls"
# A worker forks a process for the checks each minute.
CHECKS = "from core.watch.doctor import all_checks; all_checks()"


@pytest.mark.parametrize(
    ("issuer", "use", "loaded"),
    [("", PAGES, "False"), ("https://sign-on.example", PAGES, "True"), ("", CHECKS, "False")],
)
def test_sign_on_takes_memory_only_where_it_is_set(issuer: str, use: str, loaded: str) -> None:
    program = f"import django, sys; django.setup(); {use}; print('authlib' in sys.modules)"
    read = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=variables(
            DJANGO_SETTINGS_MODULE="config.settings",
            OIDC_ISSUER=issuer,
            OIDC_CLIENT_ID="desk",
            OIDC_CLIENT_SECRET="secret",
        ),
        capture_output=True,
        text=True,
        check=True,
    )

    assert read.stdout == f"{loaded}\n"
