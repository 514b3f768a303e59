"""The environment in which `run` and `manage` start the service's own programs."""

import base64
import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# What `run` and `manage` say where the environment says nothing. The two webhook settings let the
# demo's deliveries go to this machine; no other way of starting the service has them.
DEFAULTS = {
    # The file of variables is for production; what is set here comes from us and from the shell.
    "ENV_FILE": "",
    "DEBUG": "false",
    "ENVIRONMENT": "test",
    "ALLOWED_HOSTS": "localhost,127.0.0.1,[::1]",
    "WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8,::1/128",
    "WEBHOOK_ALLOW_HTTP": "true",
}
# Set to nothing, these count as not set: the service could not start on an empty one.
NEVER_EMPTY = ("DATA_DIR", "DATABASE_URL", "BROKER_URL", "SECRET_KEY", "FIELD_KEYS", "PORT")
# What `manage` takes over from a `run` that is up, so that both mean the same service.
SHARED = (
    *DEFAULTS,
    "DATABASE_URL",
    "BROKER_URL",
    "CACHE_URL",
    "SECRET_KEY",
    "FIELD_KEYS",
    "DELIVERY_CA_BUNDLE",
    "DELIVERY_TIMEOUT_SECONDS",
    "DELIVERY_RETRY_SECONDS",
)


def said(given: dict[str, str]) -> dict[str, str]:
    """The environment without the variables that are there but empty and must not be."""
    return {name: value for name, value in given.items() if value or name not in NEVER_EMPTY}


def service_environment(given: dict[str, str], data: Path, venv: Path) -> dict[str, str]:
    """What is given, with our defaults and the data folder's secrets where it says nothing."""
    given = said(given)
    ours = DEFAULTS | {"PYTHONUNBUFFERED": "1"}
    if "SECRET_KEY" not in given or "FIELD_KEYS" not in given:
        ours |= read_or_make_secrets(data / "secrets.json")
    path = os.pathsep.join([str(venv / "bin"), given.get("PATH", os.defpath)])
    # The programs are started elsewhere than where DATA_DIR was said.
    return ours | given | {"PATH": path, "DATA_DIR": str(data)}


def shared(environment: dict[str, str]) -> dict[str, str]:
    return {name: environment[name] for name in SHARED if name in environment}


def read_or_make_secrets(path: Path) -> dict[str, str]:
    """The data folder's keys, made once: data encrypted with them is unreadable without."""
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
    """Write JSON that only we may read, whole or not at all."""
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
    """What write_private wrote; nothing when there is no such file."""
    value: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return value
