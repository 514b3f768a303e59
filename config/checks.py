"""Checks of the settings alone; each says what to do. An error stops web, worker and beat.

They ask neither the database, the broker, a mail server nor DNS, so that the service can start
while those are away. `manage.py` runs them before its commands; `config.startup` before web,
worker and beat serve anybody.
"""

from typing import Any

from cryptography.fernet import Fernet
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register
from django.core.exceptions import ImproperlyConfigured

# The tag by which `config.startup` finds them.
SETTINGS = "settings"

SECRET_KEY_MIN_LENGTH = 50
# Django's own measure of a key such as "aaaa…".
SECRET_KEY_MIN_DISTINCT = 5
# Of Django's backends, those that all processes see and that `config.caches` sets up.
SHARED_CACHES = ("django.core.cache.backends.redis.RedisCache",)
# Parts of the keys that stand in examples, templates and tutorials. A random key of 64 characters
# contains one of them less than once in a million.
EXAMPLE_KEYS = (
    "change-me",
    "change_me",
    "changeme",
    "example",
    "insecure",
    "only-for-",
    "password",
    "placeholder",
    "replace-",
    "replace_",
    "secret",
    "your-key",
    "your_key",
)


@register(SETTINGS)
def secret_key(**_: Any) -> list[CheckMessage]:
    """Whoever knows the key can sign a session of any agent."""
    try:
        key = settings.SECRET_KEY
    except ImproperlyConfigured:
        # Django refuses an empty one by itself, without saying what to set.
        key = ""
    problem = ""
    if len(key) < SECRET_KEY_MIN_LENGTH:
        problem = f"has {len(key)} characters"
    elif len(set(key)) < SECRET_KEY_MIN_DISTINCT:
        problem = "repeats the same few characters"
    elif any(example in key.lower() for example in EXAMPLE_KEYS):
        problem = "looks like an example"
    if not problem:
        return []
    return [
        Error(
            f"SECRET_KEY {problem}.",
            hint=f"Set it to at least {SECRET_KEY_MIN_LENGTH} random characters, such as the "
            'output of: python -c "import secrets; print(secrets.token_urlsafe(64))"',
            id="config.E005",
        )
    ]


@register(SETTINGS)
def field_keys(**_: Any) -> list[CheckMessage]:
    if not settings.FIELD_KEYS:
        return [
            Error(
                "FIELD_KEYS is empty, so webhook secrets cannot be stored.",
                hint="Set it to one or more Fernet keys, newest first, separated by commas.",
                id="config.E001",
            )
        ]
    for position, key in enumerate(settings.FIELD_KEYS, start=1):
        try:
            Fernet(key)
        except ValueError:
            return [
                Error(
                    f"Key {position} of FIELD_KEYS is not a Fernet key.",
                    hint="A Fernet key is 32 random bytes in URL-safe base64.",
                    id="config.E002",
                )
            ]
    return []


@register(SETTINGS)
def environment(**_: Any) -> list[CheckMessage]:
    if settings.ENVIRONMENT in ("test", "production"):
        return []
    return [
        Error(
            f"ENVIRONMENT is {settings.ENVIRONMENT!r}.",
            hint="Set it to test or production.",
            id="config.E003",
        )
    ]


@register(SETTINGS)
def production_targets(**_: Any) -> list[CheckMessage]:
    """In production a company's URL must not reach inside."""
    if settings.ENVIRONMENT != "production":
        return []
    loose = []
    if settings.WEBHOOK_ALLOW_HTTP:
        loose.append("WEBHOOK_ALLOW_HTTP is on")
    if settings.WEBHOOK_ALLOWED_NETWORKS:
        loose.append("WEBHOOK_ALLOWED_NETWORKS is not empty")
    if settings.DEBUG:
        loose.append("DEBUG is on")
    return [
        Error(f"{problem} in production.", hint="Unset it.", id="config.E004") for problem in loose
    ]


@register(SETTINGS)
def mail(**_: Any) -> list[CheckMessage]:
    """Django would say so only when the first email is sent."""
    if not (settings.EMAIL_USE_TLS and settings.EMAIL_USE_SSL):
        return []
    return [
        Error(
            "EMAIL_USE_TLS and EMAIL_USE_SSL are both true.",
            hint="Set EMAIL_USE_TLS to false for TLS from the first byte, else EMAIL_USE_SSL.",
            id="config.E006",
        )
    ]


@register(SETTINGS)
def shared_cache(**_: Any) -> list[CheckMessage]:
    """A cache that each process has to itself multiplies the rate limits by the processes."""
    if settings.CACHES["default"]["BACKEND"] in SHARED_CACHES:
        return []
    return [
        Warning(
            "The cache is not shared: each process counts requests by itself, so a company may "
            "use up RATE_LIMIT_READ and the other limits once per process.",
            hint="Set CACHE_URL to a Redis or Valkey that all processes reach, such as "
            "redis://cache.internal:6379/0. With a Redis or Valkey as the broker, leave it out.",
            id="config.W001",
        )
    ]
