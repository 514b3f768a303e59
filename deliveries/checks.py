"""Checks of settings that could keep anything from being delivered in time (core.watch.checks)."""

import math
import ssl
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from core.watch.checks import SETTINGS, Use
from webhooks.outgoing import BadProxy, parse_proxy

# A longer attempt would hold back its subject, and its claim would last six times as long.
LONGEST_TIMEOUT_SECONDS = 60
# Each loop is a process of a worker.
MOST_LOOPS = 100


@register(SETTINGS, Use.SENDING)
def authorities(**_: Any) -> list[CheckMessage]:
    """Check that DELIVERY_CA_BUNDLE has authorities: without any, no receiver is trusted."""
    path = settings.DELIVERY_CA_BUNDLE
    if not path:
        return []
    try:
        # A file that is not PEM raises an error; one without certificates has no authorities.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(path)
        problem = "" if context.get_ca_certs() else "holds no authority's certificate"
    except OSError as error:
        problem = f"cannot be read: {error.strerror or error}"
    if not problem:
        return []
    return [
        Error(
            f"DELIVERY_CA_BUNDLE names {path}, which {problem}.",
            hint="Set it to a PEM file of authorities, or leave it out for the public ones.",
            id="config.E020",
        )
    ]


@register(SETTINGS, Use.SENDING)
def proxy_address(**_: Any) -> list[CheckMessage]:
    """Check DELIVERY_PROXY. Its value may hold a password, so the message omits it."""
    try:
        parse_proxy(settings.DELIVERY_PROXY)
    except BadProxy as bad:
        return [
            Error(
                f"DELIVERY_PROXY {bad}.",
                hint="Write http://user:password@host:port or socks5://host:port, percent-encode"
                " the login, or leave it out.",
                id="config.E024",
            )
        ]
    return []


@register(SETTINGS, Use.SENDING)
def attempt_timeout(**_: Any) -> list[CheckMessage]:
    if 0.1 <= settings.DELIVERY_TIMEOUT_SECONDS <= LONGEST_TIMEOUT_SECONDS:
        return []
    return [
        Error(
            f"DELIVERY_TIMEOUT_SECONDS is {settings.DELIVERY_TIMEOUT_SECONDS:g}.",
            hint=f"Set it to between 0.1 and {LONGEST_TIMEOUT_SECONDS} seconds; companies are told"
            " 5.",
            id="config.E021",
        )
    ]


@register(SETTINGS, Use.SENDING)
def retry_waits(**_: Any) -> list[CheckMessage]:
    waits = settings.DELIVERY_RETRY_SECONDS
    if waits and all(math.isfinite(wait) and wait >= 0 for wait in waits):
        return []
    return [
        Error(
            "DELIVERY_RETRY_SECONDS names no wait, or one that is not a time.",
            hint="Set it to the seconds after the first, second, … failure, separated by commas,"
            " or leave it out.",
            id="config.E022",
        )
    ]


@register(SETTINGS, Use.SENDING)
def loops(**_: Any) -> list[CheckMessage]:
    if 1 <= settings.DELIVERY_LOOPS <= MOST_LOOPS:
        return []
    return [
        Error(
            f"DELIVERY_LOOPS is {settings.DELIVERY_LOOPS}.",
            hint="Set it to about one per core of all workers together, between 1 and"
            f" {MOST_LOOPS}. It does not depend on WORKER_CONCURRENCY.",
            id="config.E023",
        )
    ]
