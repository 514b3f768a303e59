"""config.settings without the variables that a temporary run must not need."""

import os
import secrets

from cryptography.fernet import Fernet

# No env file of a developer may influence the tests.
os.environ["ENV_FILE"] = ""
os.environ.setdefault("SECRET_KEY", secrets.token_urlsafe(64))
os.environ.setdefault("FIELD_KEYS", Fernet.generate_key().decode())
os.environ.setdefault("ENVIRONMENT", "test")

# Processes of a test ring this one's queues, although the names of their databases differ.
os.environ.setdefault("DEPLOYMENT", "tests")

# Processes of a parallel run share one broker: each uses two of its databases alone, so that
# no worker that a test starts hears another test's doorbell.
BROKER = os.environ["BROKER_URL"].partition("?")[0]
SHARE = 2 + 2 * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
if BROKER.startswith("redis+socket://"):
    os.environ["BROKER_URL"] = f"{BROKER}?virtual_host={SHARE}"
    socket = BROKER.removeprefix("redis+socket://")
    os.environ["CACHE_URL"] = f"unix://{socket}?db={SHARE + 1}"

from config.settings import *  # noqa: F403, E402

ALLOWED_HOSTS = ["testserver", "127.0.0.1", "localhost"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

# Storage for files of tickets, for as long as the process lives.
STORAGES = {
    **STORAGES,  # noqa: F405
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
}

# Tests of undo set a time; others look at messages that were sent at once.
UNDO_SECONDS = 0
