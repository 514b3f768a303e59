"""Authorization: Bearer <API token> -> the company (interface, Authentication)."""

from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from companies.api_acts import Caller, caller_at_work
from companies.known_callers import CALLERS
from companies.models import LAST_USED_PRECISION, ApiToken, Company, PlatformToken, Token, lives
from companies.tokens import bearer_token, token_digest
from core.data.compiled_queries import CompiledQuery, Slot, column_names, from_row


class Bearer(BaseAuthentication):
    """Bearer token: `request.user` becomes its owner, `request.auth` the token; else a 401."""

    # Name of the token in messages.
    name: str

    def authenticate(self, request: Request) -> tuple[Any, Any]:
        token = bearer_token(request.META.get("HTTP_AUTHORIZATION", ""))
        if not token:
            raise AuthenticationFailed(
                f"Send the header Authorization: Bearer <{self.name}>.", code="not_authenticated"
            )
        now = timezone.now()
        result = self.find(token, now)
        if result is None:
            CALLERS.forget("token", token)
            raise AuthenticationFailed(
                f"This {self.name} is unknown, expired or revoked.", code="invalid_token"
            )
        CALLERS.remember("token", token, self.owner(result[0]))
        record_token_use(result[1], now)
        if isinstance(result[1], ApiToken):
            caller_at_work.set(Caller(result[1].company_id, {"token": result[1].prefix}))
        return result

    def find(self, token: str, now: datetime) -> tuple[Any, Token] | None:
        raise NotImplementedError

    def owner(self, user: Any) -> str:
        """Name the token's owner, in the same way for all of its tokens."""
        return f"{user._meta.model_name} {user.pk}"

    def authenticate_header(self, request: Request) -> str:
        """Name an error only if a token was sent (RFC 6750, section 3.1)."""
        token = bearer_token(request.META.get("HTTP_AUTHORIZATION", ""))
        return 'Bearer error="invalid_token"' if token else "Bearer"


class BearerToken(Bearer):
    """Authentication of companies."""

    name = "API token"

    def find(self, token: str, now: datetime) -> tuple[Company, ApiToken] | None:
        api_token = live_token(token, now)
        return (api_token.company, api_token) if api_token else None


class PlatformBearer(Bearer):
    """Authentication of the shipping platform, which is no company (decision N25)."""

    name = "platform token"

    def find(self, token: str, now: datetime) -> tuple[PlatformToken, PlatformToken] | None:
        platform_token = live_platform_token(token, now)
        return (platform_token, platform_token) if platform_token else None


def live_query(digest: Slot, now: Slot) -> QuerySet[ApiToken, tuple[Any, ...]]:
    both = [*column_names(ApiToken), *column_names(Company, "company__")]
    return ApiToken.objects.live(now).filter(digest=digest).values_list(*both)


LIVE = CompiledQuery(live_query, digest="{}::text", now="{}::timestamptz")


def live_token(token: str, now: datetime) -> ApiToken | None:
    """Return a live token with its company. Queried each time, so a revoked one ends at once."""
    rows = LIVE.fetch(digest=token_digest(token), now=now)
    if not rows:
        return None
    (row,) = rows
    end = len(column_names(ApiToken))
    live = from_row(ApiToken, row[:end])
    live.company = from_row(Company, row[end:])
    return live


def live_platform_token(token: str, now: datetime) -> PlatformToken | None:
    digest = token_digest(token)
    return PlatformToken.objects.filter(lives(now), digest=digest).first()


def record_token_use(token: Token, now: datetime) -> None:
    # Otherwise every read request would write.
    if token.last_used_at is None or now - token.last_used_at > LAST_USED_PRECISION:
        type(token)._default_manager.filter(pk=token.pk).update(last_used_at=now)
