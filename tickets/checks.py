"""Settings of tickets (companies.checks says who runs these)."""

from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, Error, register
from django.utils.module_loading import import_string

from companies.checks import SETTINGS, Use

LONGEST_APPEAL_DAYS = 3650


@register(SETTINGS, Use.TICKETS)
def relevance_check(**_: Any) -> list[CheckMessage]:
    """Where the apps are loaded: beat loads none, and has no use for the function."""
    if not apps.ready:
        return []
    path = settings.RELEVANCE_CHECK
    try:
        problem = "" if callable(import_string(path)) else "is no function"
    except Exception as error:
        problem = f"cannot be imported: {error}"
    if not problem:
        return []
    return [
        Error(
            f"RELEVANCE_CHECK names {path}, which {problem}.",
            hint="Set it to the dotted path of a function (ticket, text, data) -> bool, or leave"
            " it out.",
            id="config.E019",
        )
    ]


@register(SETTINGS, Use.TICKETS)
def appeal_days(**_: Any) -> list[CheckMessage]:
    if 1 <= settings.APPEAL_DAYS <= LONGEST_APPEAL_DAYS:
        return []
    return [
        Error(
            f"APPEAL_DAYS is {settings.APPEAL_DAYS}.",
            hint=f"Set it to between 1 and {LONGEST_APPEAL_DAYS}, or leave it out for 30.",
            id="config.E033",
        )
    ]
