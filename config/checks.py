"""Checks of variables that cannot be read (core.watch.checks says who runs them)."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from core.watch.checks import SETTINGS, Use

# Use of the variables with a prefix; all others concern requests.
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
    uses = (use for prefix, use in PREFIXES.items() if variable.startswith(prefix))
    return next(uses, Use.REQUESTS)


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
