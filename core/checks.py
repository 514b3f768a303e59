"""Checks of settings that any product has: keys, hosts, servers, files (core.watch.checks)."""

import logging
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cryptography.fernet import Fernet
from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register
from django.core.exceptions import ImproperlyConfigured

from core.watch.checks import SETTINGS, Use, import_problem

SECRET_KEY_MIN_LENGTH = 50
# Django's own measure of a key such as "aaaa…".
SECRET_KEY_MIN_DISTINCT = 5
# Parts of keys in examples, templates and tutorials. A random key of 64 characters
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
BROKERS = ("redis://", "rediss://", "redis+socket://", "amqp://", "amqps://")
CACHE_SCHEMES = ("redis://", "rediss://", "unix://", "locmem://")
# Minimum values of KEEP_…_DAYS. The database itself protects the audit for that long.
MOST_DAYS = 36_500
LEAST_DAYS = {"audit": 90}
PROMISED_DAYS = {"deliveries": 30, "tracking": 30}
# Backends that all processes share and that `config.caches` sets up.
SHARED_CACHES = ("django.core.cache.backends.redis.RedisCache",)


@register(SETTINGS, Use.KEYS)
def secret_key(**_: Any) -> list[CheckMessage]:
    """Check that the key cannot be guessed: whoever knows it can sign a session of any agent."""
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


@register(SETTINGS, Use.TOKENS)
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


@register(SETTINGS, Use.REQUESTS)
def debugging(**_: Any) -> list[CheckMessage]:
    """Refuse DEBUG in production: error pages would show settings and variables to anybody."""
    if not settings.DEBUG or settings.ENVIRONMENT != "production":
        return []
    return [Error("DEBUG is on in production.", hint="Unset it.", id="config.E004")]


@register(SETTINGS, Use.BROKER)
def broker_address(**_: Any) -> list[CheckMessage]:
    if settings.CELERY_BROKER_URL.startswith(BROKERS):
        return []
    return [
        Error(
            "BROKER_URL is not the address of a broker.",
            hint=f"It begins with one of {', '.join(BROKERS)}.",
            id="config.E009",
        )
    ]


@register(SETTINGS, Use.BROKER)
def cache_address(**_: Any) -> list[CheckMessage]:
    if settings.CACHE_URL.startswith(CACHE_SCHEMES):
        return []
    return [
        Error(
            "CACHE_URL is not the address of a cache.",
            hint=f"It begins with one of {', '.join(CACHE_SCHEMES)}, or is left out.",
            id="config.E017",
        )
    ]


@register(SETTINGS, Use.REQUESTS)
def hosts(**_: Any) -> list[CheckMessage]:
    problems: list[CheckMessage] = []
    if not settings.ALLOWED_HOSTS and not settings.DEBUG:
        problems.append(
            Error(
                "ALLOWED_HOSTS is empty, so that every request is refused.",
                hint="Set it to the host names that the service answers to.",
                id="config.E010",
            )
        )
    if "*" in settings.ALLOWED_HOSTS and settings.ENVIRONMENT == "production":
        problems.append(
            Warning(
                "ALLOWED_HOSTS takes any Host header.",
                hint="Set it to the host names that the service answers to.",
                id="config.W002",
            )
        )
    problems += [
        Error(
            f"CSRF_TRUSTED_ORIGINS names {origin}, which is no origin.",
            hint="Write the scheme too, such as https://desk.example.com.",
            id="config.E011",
        )
        for origin in settings.CSRF_TRUSTED_ORIGINS
        if not origin.startswith(("https://", "http://"))
    ]
    return problems


@register(SETTINGS, Use.REQUESTS)
def proxies(**_: Any) -> list[CheckMessage]:
    problems: list[CheckMessage] = []
    if settings.PROXY_COUNT < 0:
        problems.append(
            Error(
                f"PROXY_COUNT is {settings.PROXY_COUNT}.",
                hint="Set it to the number of proxies in front, or to 0.",
                id="config.E012",
            )
        )
    if settings.ENVIRONMENT == "production" and not settings.SESSION_COOKIE_SECURE:
        problems.append(
            Warning(
                "HTTPS is off in production: passwords and sessions travel as they are.",
                hint="Unset HTTPS, and let a proxy end TLS and set X-Forwarded-Proto.",
                id="config.W003",
            )
        )
    return problems


@register(SETTINGS, Use.LANGUAGE)
def language(**_: Any) -> list[CheckMessage]:
    codes = [code for code, _ in settings.LANGUAGES]
    if settings.DESK_LANGUAGE in codes:
        return []
    return [
        Error(
            f"LANGUAGE_CODE is {settings.DESK_LANGUAGE!r}.",
            hint=f"Set it to {' or '.join(codes)}, or leave it out for en.",
            id="config.E030",
        )
    ]


@register(SETTINGS, Use.LANGUAGE)
def time_zone(**_: Any) -> list[CheckMessage]:
    try:
        ZoneInfo(settings.DESK_TIME_ZONE)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return [
            Error(
                f"TIME_ZONE is {settings.DESK_TIME_ZONE!r}.",
                hint="Set it to a zone such as America/Mexico_City, or leave it out for UTC.",
                id="config.E034",
            )
        ]
    return []


@register(SETTINGS, Use.LOGS)
def log_level(**_: Any) -> list[CheckMessage]:
    if settings.LOG_LEVEL in logging.getLevelNamesMapping():
        return []
    return [
        Error(
            f"LOG_LEVEL is {settings.LOG_LEVEL!r}.",
            hint="Set it to DEBUG, INFO, WARNING, ERROR or CRITICAL.",
            id="config.E013",
        )
    ]


@register(SETTINGS, Use.KEYS)
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


@register(SETTINGS, Use.REQUESTS)
def shared_cache(**_: Any) -> list[CheckMessage]:
    """Warn of a cache per process, which multiplies the rate limits by the processes."""
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


@register(SETTINGS, Use.REQUESTS)
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


@register(SETTINGS, Use.FILES)
def file_storage(**_: Any) -> list[CheckMessage]:
    """Check that the storage of files can be imported; `doctor` checks that it takes files."""
    problems: list[CheckMessage] = []
    if not apps.ready:  # runs again once Django is set up
        return problems
    path = settings.FILE_STORAGE
    if problem := import_problem(path):
        problems.append(
            Error(
                f"FILE_STORAGE names {path}, which {problem}.",
                hint="Set it to the dotted path of a storage of Django's kind, or leave it out.",
                id="config.E031",
            )
        )
    on_disk = path.endswith(".FileSystemStorage")
    if settings.ENVIRONMENT == "production" and on_disk and settings.FILES_DIR == "/tmp/files":  # noqa: S108
        problems.append(
            Warning(
                "Files of companies are kept in /tmp, where they do not last.",
                hint="Set FILES_DIR to a folder that every web process and worker shares, or"
                " FILE_STORAGE to a storage elsewhere.",
                id="config.W031",
            )
        )
    return problems


@register(SETTINGS, Use.UPLOADS)
def file_scanner(**_: Any) -> list[CheckMessage]:
    path = settings.FILE_SCANNER
    problem = import_problem(path) if path and apps.ready else ""
    if not problem:
        return []
    return [
        Error(
            f"FILE_SCANNER names {path}, which {problem}.",
            hint="Set it to the dotted path of a function (name, file) -> verdict, or leave it"
            " out.",
            id="config.E032",
        )
    ]


@register(SETTINGS, Use.RETENTION)
def days_kept(**_: Any) -> list[CheckMessage]:
    problems: list[CheckMessage] = []
    for kind, days in settings.KEEP_DAYS.items():
        name, least = f"KEEP_{kind.upper()}_DAYS", LEAST_DAYS.get(kind, 1)
        if days and not least <= days <= MOST_DAYS:
            problems.append(
                Error(
                    f"{name} is {days}.",
                    hint=f"Set it to between {least} and {MOST_DAYS}, to 0 for ever, or leave it"
                    " out.",
                    id="config.E025",
                )
            )
        elif 0 < days < PROMISED_DAYS.get(kind, 0):
            problems.append(
                Warning(
                    f"{name} is {days}, and the guides tell companies {PROMISED_DAYS[kind]}.",
                    hint=f"Set it to at least {PROMISED_DAYS[kind]}, or tell your companies.",
                    id="config.W006",
                )
            )
    return problems
