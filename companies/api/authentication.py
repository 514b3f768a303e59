"""Authorization: Bearer <API token> -> the company (interface, Authentication)."""

from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from companies.api_acts import token_at_work
from companies.known_callers import CALLERS
from companies.models import LAST_USED_PRECISION, ApiToken, Company, PlatformToken, Token, lives
from companies.tokens import shown_token, token_digest
from core.data.compiled_queries import CompiledQuery, Slot, column_names, from_row


class Bearer(BaseAuthentication):
    """Sets `request.user` to whom the token stands for and `request.auth` to it, else a 401."""

    # As messages call the token.
    name: str

    def authenticate(self, request: Request) -> tuple[Any, Any]:
        token = shown_token(request.META.get("HTTP_AUTHORIZATION", ""))
        if not token:
            raise AuthenticationFailed(
                f"Send the header Authorization: Bearer <{self.name}>.", code="not_authenticated"
            )
        now = timezone.now()
        found = self.find(token, now)
        if found is None:
            CALLERS.forget("token", token)
            raise AuthenticationFailed(
                f"This {self.name} is unknown, expired or revoked.", code="invalid_token"
            )
        CALLERS.remember("token", token, self.owner(found[0]))
        record_token_use(found[1], now)
        if isinstance(found[1], ApiToken):
            token_at_work.set(found[1])
        return found

    def find(self, token: str, now: datetime) -> tuple[Any, Token] | None:
        raise NotImplementedError

    def owner(self, user: Any) -> str:
        """Name whoever the token stands for, whichever of its tokens this is."""
        return f"{user._meta.model_name} {user.pk}"

    def authenticate_header(self, request: Request) -> str:
        """Name the error of a token that was sent, and none without one (RFC 6750, section 3.1)."""
        sent = shown_token(request.META.get("HTTP_AUTHORIZATION", ""))
        return 'Bearer error="invalid_token"' if sent else "Bearer"


class BearerToken(Bearer):
    """A company's."""

    name = "API token"

    def find(self, token: str, now: datetime) -> tuple[Company, ApiToken] | None:
        found = live_token(token, now)
        return (found.company, found) if found else None


class PlatformBearer(Bearer):
    """The shipping platform's, which is no company's (decision N25)."""

    name = "platform token"

    def find(self, token: str, now: datetime) -> tuple[PlatformToken, PlatformToken] | None:
        found = live_platform_token(token, now)
        return (found, found) if found else None


def live_query(digest: Slot, now: Slot) -> QuerySet[ApiToken, tuple[Any, ...]]:
    both = [*column_names(ApiToken), *column_names(Company, "company__")]
    return ApiToken.objects.live(now).filter(digest=digest).values_list(*both)


LIVE = CompiledQuery(live_query, digest="{}::text", now="{}::timestamptz")


def live_token(token: str, now: datetime) -> ApiToken | None:
    """The token with its company. Asked for each time, so that a revoked one ends at once."""
    found = LIVE.ask(digest=token_digest(token), now=now)
    if not found:
        return None
    (row,) = found
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
