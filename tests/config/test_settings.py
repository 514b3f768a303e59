"""The configuration as production reads it, in a process of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from django.conf import settings
from django.test import Client

ROOT = Path(__file__).resolve().parent.parent.parent


def manage(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    values = {
        "PATH": os.environ["PATH"],
        "DATABASE_URL": os.environ["DATABASE_URL"],
        "BROKER_URL": os.environ["BROKER_URL"],
        "SECRET_KEY": "qa8!" * 20 + "zyxwvutsrqponmlkjihgfedcba",
        "FIELD_KEYS": Fernet.generate_key().decode(),
        "ALLOWED_HOSTS": "desk.acme.example",
        **environment,
    }
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={name: value for name, value in values.items() if value is not None},
        capture_output=True,
        text=True,
    )


def test_production_passes_the_deployment_check_in_silence() -> None:
    checked = manage("check", "--deploy", "--fail-level", "WARNING")

    assert checked.returncode == 0, checked.stderr
    assert checked.stdout == "System check identified no issues (0 silenced).\n"


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("FIELD_KEYS", "", "config.E001"),
        ("FIELD_KEYS", "not a key", "config.E002"),
        ("ENVIRONMENT", "staging", "config.E003"),
        ("WEBHOOK_ALLOW_HTTP", "true", "config.E004"),
        ("WEBHOOK_ALLOWED_NETWORKS", "10.0.0.0/8", "config.E004"),
        ("DEBUG", "true", "config.E004"),
    ],
)
def test_refuses_an_unsafe_or_half_configuration(variable: str, value: str, says: str) -> None:
    checked = manage("check", **{variable: value})

    assert checked.returncode == 1
    assert says in checked.stderr
    assert "HINT" in checked.stderr


@pytest.mark.parametrize("variable", ["SECRET_KEY", "DATABASE_URL", "BROKER_URL"])
def test_does_not_start_without_what_it_needs(variable: str) -> None:
    checked = manage("check", **{variable: None})

    assert checked.returncode != 0
    assert variable in checked.stderr


def test_has_a_migration_for_every_change(db: None) -> None:
    checked = manage("makemigrations", "--check", "--dry-run")

    assert (checked.returncode, checked.stdout) == (0, "No changes detected\n")


def test_writes_down_every_variable(db: None) -> None:
    text = (ROOT / "config" / "settings.py").read_text()
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
