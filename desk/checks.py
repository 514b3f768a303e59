"""Checks of the desk's settings: sign-on, carriers' pages (run by core.watch.checks)."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from core.watch.checks import SETTINGS, Use
from shipments.carrier_pages import is_page

SIGN_ON_ROLES = ("agent", "lead", "auditor", "operator")
SECOND_FACTOR_ASKERS = ("desk", "amr", "provider")
LOOPBACK = ("127.0.0.1", "localhost", "::1")


@register(SETTINGS, Use.SIGN_ON)
def single_sign_on(**_: Any) -> list[CheckMessage]:
    return [
        Error(problem, hint=hint, id=id)
        for id, problem, hint in (*provider_problems(), *role_problems())
    ]


@register(SETTINGS, Use.DESK)
def carrier_pages(**_: Any) -> list[CheckMessage]:
    """Require https for carriers' pages: other links could run a script or leak the number."""
    wrong = [
        name for name, page in settings.CARRIER_PAGES if not name or (page and not is_page(page))
    ]
    return [
        Error(
            f"CARRIER_PAGES has no https address for {name!r}.",
            hint="Write CARRIER=https://…/{number} with commas between; %2C for a comma in one.",
            id="config.E035",
        )
        for name in wrong
    ]


def provider_problems() -> Iterator[tuple[str, str, str]]:
    issuer = settings.OIDC_ISSUER
    needed = {name: getattr(settings, name) for name in ("OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET")}
    missing = [name for name, value in needed.items() if not value]
    if issuer and missing:
        yield (
            "config.E050",
            f"OIDC_ISSUER is set, and {' and '.join(missing)} not.",
            "Set what the provider gave you for this client, or leave OIDC_ISSUER out.",
        )
    if not issuer and (settings.OIDC_ONLY or any(needed.values())):
        yield (
            "config.E050",
            "Single sign-on is set up in part: OIDC_ISSUER is missing.",
            "Set it to the provider's issuer, or leave out the other variables that begin with"
            " OIDC_.",
        )
    if issuer and not is_issuer(issuer):
        yield (
            "config.E051",
            "OIDC_ISSUER is no https address.",
            "Set it as the provider's discovery document has it, without"
            " /.well-known/openid-configuration.",
        )


def is_issuer(issuer: str) -> bool:
    try:
        parts = urlsplit(issuer)
        local = settings.ENVIRONMENT == "test" and parts.hostname in LOOPBACK
    except ValueError:
        return False
    plain = not (parts.query or parts.fragment or parts.username or ".well-known" in parts.path)
    return bool(parts.hostname) and plain and (parts.scheme == "https" or local)


def role_problems() -> Iterator[tuple[str, str, str]]:
    if bool(settings.OIDC_GROUPS_CLAIM) != bool(settings.OIDC_ROLES):
        yield (
            "config.E052",
            "Of OIDC_GROUPS_CLAIM and OIDC_ROLES only one is set.",
            "Set both, so that the provider's groups give roles, or neither.",
        )
    wrong = [role for value, role in settings.OIDC_ROLES if not value or role not in SIGN_ON_ROLES]
    if wrong:
        yield (
            "config.E052",
            f"OIDC_ROLES cannot be read at {wrong[0]!r}.",
            f"Write VALUE=ROLE with commas between; a role is one of {', '.join(SIGN_ON_ROLES)}.",
        )
    if settings.OIDC_CREATE_USERS and not settings.OIDC_ROLES:
        yield (
            "config.E053",
            "OIDC_CREATE_USERS is true, and nothing says which role new users get.",
            "Set OIDC_GROUPS_CLAIM and OIDC_ROLES, or leave OIDC_CREATE_USERS out.",
        )
    if settings.OIDC_SECOND_FACTOR not in SECOND_FACTOR_ASKERS:
        yield (
            "config.E054",
            f"OIDC_SECOND_FACTOR is {settings.OIDC_SECOND_FACTOR!r}.",
            f"Set it to one of {', '.join(SECOND_FACTOR_ASKERS)}.",
        )
