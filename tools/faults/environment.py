"""Environment of the service in fault tests and benchmarks."""

import base64
import secrets
from pathlib import Path

from tools.dev.places import Place
from tools.dev.postgres import DATABASE, SUPERUSER


def environment(*, database: str, broker: str, cache: str, folder: Path) -> dict[str, str]:
    """Return environment variables that allow receivers on loopback and put files into `folder`."""
    return {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "ENV_FILE": "",
        "DATABASE_URL": database,
        "BROKER_URL": broker,
        "CACHE_URL": cache,
        "SECRET_KEY": secrets.token_urlsafe(64),
        "FIELD_KEYS": base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
        "ENVIRONMENT": "test",
        "DEBUG": "false",
        "LOG_LEVEL": "WARNING",
        "WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8",
        "WEBHOOK_ALLOW_HTTP": "true",
        "DELIVERY_CA_BUNDLE": str(folder / "ca.pem"),
        "DATA_DIR": str(folder),
        # The pool of a killed worker leaves a folder there, which is removed with ours.
        "TMPDIR": str(folder),
        "BIND": "127.0.0.1",
        "ALLOWED_HOSTS": "127.0.0.1",
        # Suppress Celery's warning about root, which is common in a container.
        "PYTHONWARNINGS": "ignore:You're running the worker with",
    }


def on_own_servers(place: Place) -> dict[str, str]:
    """Return the environment for the private servers of a place."""
    broker = place.sockets / "valkey.sock"
    return environment(
        database=f"postgres://{SUPERUSER}@/{place.sockets}/{DATABASE}",
        broker=f"redis+socket://{broker}",
        cache=f"unix://{broker}?db=1",
        folder=place.files,
    )
