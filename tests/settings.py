"""config.settings, with what a throwaway run must not need from the environment."""

import os
import secrets

from cryptography.fernet import Fernet

# No file of whoever works here has a say in what is tested.
os.environ["ENV_FILE"] = ""
os.environ.setdefault("SECRET_KEY", secrets.token_urlsafe(64))
os.environ.setdefault("FIELD_KEYS", Fernet.generate_key().decode())
os.environ.setdefault("ENVIRONMENT", "test")

# The processes that a test starts ring at the queues of this one, whose database has another name.
os.environ.setdefault("DEPLOYMENT", "tests")

# Processes of a parallel run share one broker: each has two of its databases for itself, so that
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

# Files of tickets, for as long as the process lives.
STORAGES = {
    **STORAGES,  # noqa: F405
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
}

# Tests of what can be taken back set a time; the others look at what was sent.
UNDO_SECONDS = 0
