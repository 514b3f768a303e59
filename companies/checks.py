"""Checks of the settings alone, and of those that concern every app; each says what to do.

An app has its own in a module of this name; `config.startup` knows them all. They ask neither the
database, the broker, a mail server nor DNS, so that the service can start while those are away.
`manage.py` runs them before its commands; `config.startup` before web, worker and beat serve
anybody. An Error stops whatever starts; a Warning is printed and stops nothing.
"""

from typing import Any

from cryptography.fernet import Fernet
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register

# The tag by which `config.startup` finds them.
SETTINGS = "settings"
# Of Django's backends, those that all processes see and that `config.caches` sets up.
SHARED_CACHES = ("django.core.cache.backends.redis.RedisCache",)


@register(SETTINGS)
def field_keys(**_: Any) -> list[CheckMessage]:
    if not settings.FIELD_KEYS:
        return [
            Error(
                "FIELD_KEYS is empty, so secrets cannot be stored.",
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


@register(SETTINGS)
def rate_limits(**_: Any) -> list[CheckMessage]:
    return [
        Error(
            f"RATE_LIMIT_{name.upper()} is {limit}, so that every request is refused.",
            hint="Set it to at least 1, or leave it out.",
            id="config.E018",
        )
        for name, limit in settings.RATE_LIMITS.items()
        if limit < 1
    ]
