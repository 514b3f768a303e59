"""Authorization: Bearer <API token> -> the company (interface, Authentication)."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from companies import tokens
from companies.compiled_queries import CompiledQuery, Slot, column_names, from_row
from companies.models import ApiToken, Company, PlatformToken, Token, lives

LAST_USED_PRECISION = timedelta(minutes=1)
LONGEST_TOKEN = 200


class BearerToken(BaseAuthentication):
    """Sets `request.user` to the company and `request.auth` to its token, else raises a 401."""

    def authenticate(self, request: Request) -> tuple[Company, ApiToken]:
        token = shown_token(request.META.get("HTTP_AUTHORIZATION", ""))
        if not token:
            raise AuthenticationFailed(
                "Send the header Authorization: Bearer <API token>.", code="not_authenticated"
            )
        now = timezone.now()
        found = live_token(token, now)
        if found is None:
            raise AuthenticationFailed(
                "This API token is unknown, expired or revoked.", code="invalid_token"
            )
        record_token_use(found, now)
        return found.company, found

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class PlatformBearer(BaseAuthentication):
    """The same for the shipping platform, whose token is no company's (decision N25)."""

    def authenticate(self, request: Request) -> tuple[PlatformToken, PlatformToken]:
        token = shown_token(request.META.get("HTTP_AUTHORIZATION", ""))
        if not token:
            raise AuthenticationFailed(
                "Send the header Authorization: Bearer <platform token>.", code="not_authenticated"
            )
        now = timezone.now()
        found = live_platform_token(token, now)
        if found is None:
            raise AuthenticationFailed(
                "This platform token is unknown, expired or revoked.", code="invalid_token"
            )
        record_token_use(found, now)
        return found, found

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


def shown_token(authorization: str) -> str:
    """The token of the header's value; empty where it shows none."""
    scheme, _, token = authorization.partition(" ")
    return token if scheme.lower() == "bearer" else ""


def live_query(digest: Slot, now: Slot) -> QuerySet[ApiToken, tuple[Any, ...]]:
    both = [*column_names(ApiToken), *column_names(Company, "company__")]
    return ApiToken.objects.live(now).filter(digest=digest).values_list(*both)


LIVE = CompiledQuery(live_query, digest="{}::text", now="{}::timestamptz")


def live_token(token: str, now: datetime) -> ApiToken | None:
    """The token with its company. Asked for each time, so that a revoked one ends at once."""
    found = LIVE.ask(digest=tokens.token_digest(token[:LONGEST_TOKEN]), now=now)
    if not found:
        return None
    (row,) = found
    end = len(column_names(ApiToken))
    live = from_row(ApiToken, row[:end])
    live.company = from_row(Company, row[end:])
    return live


def live_platform_token(token: str, now: datetime) -> PlatformToken | None:
    digest = tokens.token_digest(token[:LONGEST_TOKEN])
    return PlatformToken.objects.filter(lives(now), digest=digest).first()


def record_token_use(token: Token, now: datetime) -> None:
    # Once a minute is enough; otherwise every read request would write.
    if token.last_used_at is None or now - token.last_used_at > LAST_USED_PRECISION:
        type(token)._default_manager.filter(pk=token.pk).update(last_used_at=now)
