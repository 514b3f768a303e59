import re
from typing import Any

from django.core.management.commands import diffsettings

SECRET_NAMES = re.compile(r"(KEYS?|SECRET|PASSWORD|TOKEN|DSN)(_FALLBACKS)?$")
# Settings that may hold a login although their names do not match SECRET_NAMES.
WITH_LOGINS = frozenset(
    {
        "CACHES",
        "CACHE_URL",
        "CELERY_BROKER_URL",
        "DATABASES",
        "DELIVERY_PROXY",
        "ENGINE_DATABASE",
    }
)
LOGIN = re.compile(r"://[^/\s'\"]*@")
HIDDEN = "(hidden)"


class Command(diffsettings.Command):
    """Django's command without secrets: its output is copied into tickets and chats."""

    def output_hash(self, user_settings: dict[str, str], *rest: Any, **options: Any) -> list[str]:
        lines: list[str] = super().output_hash(hide_secrets(user_settings), *rest, **options)
        return lines

    def output_unified(
        self, user_settings: dict[str, str], *rest: Any, **options: Any
    ) -> list[str]:
        lines: list[str] = super().output_unified(hide_secrets(user_settings), *rest, **options)
        return lines


def hide_secrets(values: dict[str, str]) -> dict[str, str]:
    return {name: HIDDEN if is_secret(name, value) else value for name, value in values.items()}


def is_secret(name: str, value: str) -> bool:
    """Tell by the name and the printed value of a setting whether it holds a secret."""
    if name in WITH_LOGINS or LOGIN.search(value):
        return True
    return bool(SECRET_NAMES.search(name)) and value not in ("''", "[]", "()", "None")
