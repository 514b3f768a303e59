import stat
from pathlib import Path

from cryptography.fernet import Fernet

from tools.dev.environment import DEFAULTS, service_environment

VENV = Path("/checkout/.venv")


def test_says_what_a_service_on_this_machine_needs(tmp_path: Path) -> None:
    environment = service_environment({"PATH": "/usr/bin"}, tmp_path, VENV)

    assert environment["DEBUG"] == "false"
    assert environment["ENVIRONMENT"] == "test"
    assert environment["ALLOWED_HOSTS"] == "localhost,127.0.0.1,[::1]"
    assert environment["WEBHOOK_ALLOWED_NETWORKS"] == "127.0.0.0/8,::1/128"
    assert environment["WEBHOOK_ALLOW_HTTP"] == "true"
    assert environment["DATA_DIR"] == str(tmp_path)
    assert environment["PATH"] == "/checkout/.venv/bin:/usr/bin"


def test_a_variable_that_is_set_wins_also_when_it_is_set_to_nothing(tmp_path: Path) -> None:
    variables = dict.fromkeys(DEFAULTS, "given") | {"WEBHOOK_ALLOWED_NETWORKS": ""}

    environment = service_environment(variables, tmp_path, VENV)

    assert {name: environment[name] for name in DEFAULTS} == variables


def test_an_empty_address_or_key_counts_as_none(tmp_path: Path) -> None:
    variables = {"DATABASE_URL": "", "BROKER_URL": "", "SECRET_KEY": "", "FIELD_KEYS": ""}

    environment = service_environment(variables, tmp_path, VENV)

    assert "DATABASE_URL" not in environment
    assert "BROKER_URL" not in environment
    assert environment["SECRET_KEY"]
    assert environment["FIELD_KEYS"]


def test_makes_keys_once_for_our_eyes_only(tmp_path: Path) -> None:
    first = service_environment({}, tmp_path, VENV)
    second = service_environment({}, tmp_path, VENV)

    assert len(first["SECRET_KEY"]) >= 50
    assert Fernet(first["FIELD_KEYS"]).decrypt(Fernet(second["FIELD_KEYS"]).encrypt(b"x")) == b"x"
    assert first["SECRET_KEY"] == second["SECRET_KEY"]
    assert stat.S_IMODE((tmp_path / "secrets.json").stat().st_mode) == 0o600


def test_makes_no_keys_where_the_environment_brings_its_own(tmp_path: Path) -> None:
    environment = service_environment({"SECRET_KEY": "a", "FIELD_KEYS": "b"}, tmp_path, VENV)

    assert (environment["SECRET_KEY"], environment["FIELD_KEYS"]) == ("a", "b")
    assert list(tmp_path.iterdir()) == []
