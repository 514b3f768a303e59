"""Environment in which `run` and `manage` start the service's programs."""

import base64
import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# Defaults of `run` and `manage`. The two webhook settings let the demo's deliveries go to this
# machine; they are not set by any other way of starting the service.
DEFAULTS = {
    # The file of variables is for production; here variables come from us and from the shell.
    "ENV_FILE": "",
    "DEBUG": "false",
    "ENVIRONMENT": "test",
    "ALLOWED_HOSTS": "localhost,127.0.0.1,[::1]",
    "WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8,::1/128",
    "WEBHOOK_ALLOW_HTTP": "true",
}
# Empty values of these count as unset: the service cannot start with them.
NEVER_EMPTY = ("DATA_DIR", "DATABASE_URL", "BROKER_URL", "SECRET_KEY", "FIELD_KEYS", "PORT")
# Variables that `manage` inherits from a running `run`, so that both use the same service.
SHARED = (
    *DEFAULTS,
    "PUBLIC_URL",
    "DATABASE_URL",
    "BROKER_URL",
    "CACHE_URL",
    "SECRET_KEY",
    "FIELD_KEYS",
    "DELIVERY_CA_BUNDLE",
    "DELIVERY_TIMEOUT_SECONDS",
    "DELIVERY_RETRY_SECONDS",
)


def without_empty(variables: dict[str, str]) -> dict[str, str]:
    """Return the environment without empty variables that must not be empty."""
    return {name: value for name, value in variables.items() if value or name not in NEVER_EMPTY}


def service_environment(variables: dict[str, str], data: Path, venv: Path) -> dict[str, str]:
    """Complete the environment with our defaults and the data folder's secrets."""
    variables = without_empty(variables)
    ours = DEFAULTS | {"PYTHONUNBUFFERED": "1"}
    if "SECRET_KEY" not in variables or "FIELD_KEYS" not in variables:
        ours |= read_or_make_secrets(data / "secrets.json")
    path = os.pathsep.join([str(venv / "bin"), variables.get("PATH", os.defpath)])
    # DATA_DIR may be relative, and the programs start in another folder.
    return ours | variables | {"PATH": path, "DATA_DIR": str(data)}


def shared(environment: dict[str, str]) -> dict[str, str]:
    return {name: environment[name] for name in SHARED if name in environment}


def read_or_make_secrets(path: Path) -> dict[str, str]:
    """Return the data folder's keys, generated once: its encrypted data depends on them."""
    if not path.exists():
        write_private(
            path,
            {
                "SECRET_KEY": secrets.token_urlsafe(64),
                "FIELD_KEYS": base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
            },
        )
    return read_private(path)


def write_private(path: Path, value: Mapping[str, Any]) -> None:
    """Write JSON atomically, readable for us alone."""
    unfinished = path.with_name(f"{path.name}.unfinished")
    unfinished.unlink(missing_ok=True)
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "w") as file:
        json.dump(value, file, indent=2)
        file.write("\n")
        file.flush()
        os.fsync(descriptor)
    unfinished.rename(path)


def read_private(path: Path) -> dict[str, Any]:
    """Read a file of write_private; return {} if it does not exist."""
    value: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return value
