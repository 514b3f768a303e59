"""Refuse to start on an unsafe or half configuration; each check says what to do."""

from typing import Any

from cryptography.fernet import Fernet
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register


@register(Tags.security)
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


@register(Tags.security)
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


@register(Tags.security)
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
