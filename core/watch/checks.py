"""Checks of the settings alone, and of those that concern every app; each says what to do.

An app has its own in a module of this name; `config.startup` knows them all. They ask neither the
database, the broker, a mail server nor DNS, so that the service can start while those are away.
`config.startup` runs them before web and worker serve anybody; `manage.py` runs those whose
settings a command uses (config.command_settings). An Error stops whatever starts; a Warning is
printed and stops nothing.
"""

from typing import Any

from cryptography.fernet import Fernet
from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register
from django.utils.module_loading import import_string

# The tag by which `config.startup` finds them.
SETTINGS = "settings"


class Use:
    """Tags of the settings that are used together."""

    KEYS = "keys"
    TOKENS = "tokens"
    BROKER = "broker"
    REQUESTS = "requests"
    FILES = "files"
    UPLOADS = "uploads"
    RETENTION = "retention"
    LANGUAGE = "language"
    LOGS = "logs"
    MAIL = "mail"
    SENDING = "sending"
    SIGN_ON = "sign_on"
    TARGETS = "targets"
    TICKETS = "tickets"
    DESK = "desk"


# Of the settings KEEP_…_DAYS. The database itself keeps the audit for that long.
MOST_DAYS = 36_500
LEAST_DAYS = {"audit": 90}
PROMISED_DAYS = {"deliveries": 30, "tracking": 30}
# Of Django's backends, those that all processes see and that `config.caches` sets up.
SHARED_CACHES = ("django.core.cache.backends.redis.RedisCache",)


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
    """Whether it takes files only asking it can tell; the command `doctor` does."""
    found: list[CheckMessage] = []
    if not apps.ready:  # asked again once Django is set up
        return found
    path = settings.FILE_STORAGE
    if problem := import_problem(path):
        found.append(
            Error(
                f"FILE_STORAGE names {path}, which {problem}.",
                hint="Set it to the dotted path of a storage of Django's kind, or leave it out.",
                id="config.E031",
            )
        )
    on_disk = path.endswith(".FileSystemStorage")
    if settings.ENVIRONMENT == "production" and on_disk and settings.FILES_DIR == "/tmp/files":  # noqa: S108
        found.append(
            Warning(
                "Files of companies are kept in /tmp, where they do not last.",
                hint="Set FILES_DIR to a folder that every web process and worker shares, or"
                " FILE_STORAGE to a storage elsewhere.",
                id="config.W031",
            )
        )
    return found


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
    found: list[CheckMessage] = []
    for kind, days in settings.KEEP_DAYS.items():
        name, least = f"KEEP_{kind.upper()}_DAYS", LEAST_DAYS.get(kind, 1)
        if days and not least <= days <= MOST_DAYS:
            found.append(
                Error(
                    f"{name} is {days}.",
                    hint=f"Set it to between {least} and {MOST_DAYS}, to 0 for ever, or leave it"
                    " out.",
                    id="config.E025",
                )
            )
        elif 0 < days < PROMISED_DAYS.get(kind, 0):
            found.append(
                Warning(
                    f"{name} is {days}, and the guides tell companies {PROMISED_DAYS[kind]}.",
                    hint=f"Set it to at least {PROMISED_DAYS[kind]}, or tell your companies.",
                    id="config.W006",
                )
            )
    return found


def import_problem(path: str) -> str:
    """What is wrong with the dotted path of something to call; nothing where it is there."""
    try:
        return "" if callable(import_string(path)) else "is no function"
    except Exception as error:
        return f"cannot be imported: {error}"


def problem_line(problem: CheckMessage) -> str:
    return f"- {problem.id}: {problem.msg} {problem.hint}"
