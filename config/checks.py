"""Settings of the deployment: keys, hosts, servers (core.watch.checks says who runs these)."""

import logging
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register
from django.core.exceptions import ImproperlyConfigured

from core.watch.checks import SETTINGS, Use

SECRET_KEY_MIN_LENGTH = 50
# Django's own measure of a key such as "aaaa…".
SECRET_KEY_MIN_DISTINCT = 5
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
BROKERS = ("redis://", "rediss://", "redis+socket://", "amqp://", "amqps://")
CACHE_SCHEMES = ("redis://", "rediss://", "unix://", "locmem://")
# Prefixes of variables, and the settings that they belong to; the others are of requests.
PREFIXES = {
    "DELIVERY_": Use.SENDING,
    "EMAIL_": Use.MAIL,
    "FILE_": Use.FILES,
    "KEEP_": Use.RETENTION,
    "APPEAL_": Use.TICKETS,
    "CARRIER_": Use.DESK,
    "LOG_": Use.LOGS,
    "OIDC_": Use.SIGN_ON,
    "WEBHOOK_": Use.TARGETS,
}


def use_of(variable: str) -> str:
    found = (use for prefix, use in PREFIXES.items() if variable.startswith(prefix))
    return next(found, Use.REQUESTS)


def register_readable(use: str) -> None:
    @register(SETTINGS, use)
    def readable(**_: Any) -> list[CheckMessage]:
        return [
            Error(problem, hint="Correct it, or leave it out.", id="config.E008")
            for variable, problem in settings.UNREADABLE.items()
            if use_of(variable) == use
        ]


for each in {Use.REQUESTS, *PREFIXES.values()}:
    register_readable(each)


@register(SETTINGS, Use.KEYS)
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
    """Its error pages show settings and variables to whoever makes an error."""
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
    found: list[CheckMessage] = []
    if not settings.ALLOWED_HOSTS and not settings.DEBUG:
        found.append(
            Error(
                "ALLOWED_HOSTS is empty, so that every request is refused.",
                hint="Set it to the host names that the service answers to.",
                id="config.E010",
            )
        )
    if "*" in settings.ALLOWED_HOSTS and settings.ENVIRONMENT == "production":
        found.append(
            Warning(
                "ALLOWED_HOSTS takes any Host header.",
                hint="Set it to the host names that the service answers to.",
                id="config.W002",
            )
        )
    found += [
        Error(
            f"CSRF_TRUSTED_ORIGINS names {origin}, which is no origin.",
            hint="Write the scheme too, such as https://desk.example.com.",
            id="config.E011",
        )
        for origin in settings.CSRF_TRUSTED_ORIGINS
        if not origin.startswith(("https://", "http://"))
    ]
    return found


@register(SETTINGS, Use.REQUESTS)
def proxies(**_: Any) -> list[CheckMessage]:
    found: list[CheckMessage] = []
    if settings.PROXY_COUNT < 0:
        found.append(
            Error(
                f"PROXY_COUNT is {settings.PROXY_COUNT}.",
                hint="Set it to the number of proxies in front, or to 0.",
                id="config.E012",
            )
        )
    if settings.ENVIRONMENT == "production" and not settings.SESSION_COOKIE_SECURE:
        found.append(
            Warning(
                "HTTPS is off in production: passwords and sessions travel as they are.",
                hint="Unset HTTPS, and let a proxy end TLS and set X-Forwarded-Proto.",
                id="config.W003",
            )
        )
    return found


@register(SETTINGS, Use.LANGUAGE)
def language(**_: Any) -> list[CheckMessage]:
    known = [code for code, _ in settings.LANGUAGES]
    if settings.DESK_LANGUAGE in known:
        return []
    return [
        Error(
            f"LANGUAGE_CODE is {settings.DESK_LANGUAGE!r}.",
            hint=f"Set it to {' or '.join(known)}, or leave it out for en.",
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
