"""System checks of the settings of the company's page, run by `core.watch.checks`."""

import re
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from core.watch.checks import SETTINGS, Use

# Links are made of it: a scheme and a host, and perhaps a port.
ADDRESS = re.compile(r"https?://[\w.-]+(:[0-9]{1,5})?", re.ASCII)
LONGEST_LINK_DAYS = 3650


@register(SETTINGS, Use.TICKETS)
def links_lead_somewhere(**_: Any) -> list[CheckMessage]:
    problems: list[CheckMessage] = []
    if settings.PUBLIC_URL and not ADDRESS.fullmatch(settings.PUBLIC_URL):
        problems.append(
            Error(
                f"PUBLIC_URL is {settings.PUBLIC_URL}, which is no address of a service.",
                hint="Write scheme and host, such as https://desk.example.com, and no path.",
                id="config.E037",
            )
        )
    days = settings.LINK_LIFETIME.days
    if not 1 <= days <= LONGEST_LINK_DAYS:
        problems.append(
            Error(
                f"LINK_DAYS is {days}.",
                hint=f"Set it to between 1 and {LONGEST_LINK_DAYS}, or leave it out for 60.",
                id="config.E038",
            )
        )
    return problems
