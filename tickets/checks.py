"""System checks of the settings for tickets, run by `core.watch.checks`."""

from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from core.watch.checks import SETTINGS, Use, import_problem

LONGEST_APPEAL_DAYS = 3650
# A worker keeps the delayed message that sends the answer in memory for this long.
LONGEST_UNDO_SECONDS = 60


@register(SETTINGS, Use.TICKETS)
def relevance_check(**_: Any) -> list[CheckMessage]:
    """Refuse a path that does not lead to a function, once apps are loaded."""
    path = settings.RELEVANCE_CHECK
    problem = import_problem(path) if apps.ready else ""
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
def bounded_numbers(**_: Any) -> list[CheckMessage]:
    bounds = (
        ("APPEAL_DAYS", 1, LONGEST_APPEAL_DAYS, 30, "config.E033"),
        ("UNDO_SECONDS", 0, LONGEST_UNDO_SECONDS, 10, "config.E036"),
    )
    return [
        Error(
            f"{name} is {getattr(settings, name)}.",
            hint=f"Set it to between {least} and {most}, or leave it out for {usual}.",
            id=id,
        )
        for name, least, most, usual, id in bounds
        if not least <= getattr(settings, name) <= most
    ]
