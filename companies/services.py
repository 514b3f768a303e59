"""All writes of companies and their API tokens."""

from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import Max, Q, QuerySet
from django.utils import timezone
from django.utils.module_loading import import_string

from companies import tokens
from companies.models import ApiToken, Company, PlatformToken, Token
from companies.models.tokens import lives
from core.values.zones import validate_zone

T = TypeVar("T", bound=Token)


class UnknownToken(LookupError):
    """No live token matches, or more than one does."""


class UnknownCompany(LookupError):
    """There is no company with this id."""


class ErasedCompany(UnknownCompany):
    """The company was erased, and is inactive for ever (companies.erasing)."""

    def __init__(self, company_id: int) -> None:
        super().__init__(f"Company {company_id} was erased.")


def create_company(
    name: str,
    *,
    contact_email: str = "",
    language: str = "",
    time_zone: str = "",
    ticket_emails: bool = True,
) -> Company:
    """Create a company.

    Raises ValueError for a blank name or a wrong email address, ValidationError for a wrong zone.
    """
    if not name.strip():
        raise ValueError("A company must have a name.")
    if contact_email and not is_email_address(contact_email):
        raise ValueError(f"{contact_email!r} is not an email address.")
    if time_zone:
        validate_zone(time_zone)
    return Company.objects.create(
        name=name.strip()[:200],
        contact_email=contact_email,
        language=language,
        time_zone=time_zone,
        ticket_emails=ticket_emails,
    )


def is_email_address(text: str) -> bool:
    try:
        validate_email(text)
    except ValidationError:
        return False
    return True


@transaction.atomic
def set_active(company_id: int, active: bool) -> bool:
    """Switch a company off or on; False if it was so already (decision N27).

    While off, its tokens are refused and its webhooks behave as paused; the doors of its page end.
    Switched on, what waited is sent as after a pause. Raises UnknownCompany, and ErasedCompany for
    switching on an erased one.
    """
    company = Company.objects.select_for_update(no_key=True).filter(pk=company_id).first()
    if company is None:
        raise UnknownCompany(f"There is no company {company_id}.")
    if active and company.erased_at is not None:
        raise ErasedCompany(company_id)
    if company.active == active:
        return False
    company.active = active
    company.save(update_fields=["active"])
    import_string(settings.COMPANY_RESUMED if active else settings.COMPANY_STOPPED)(company_id)
    return True


def issue_token(company_id: int, *, expires_in: timedelta | None = None) -> str:
    """Create a token and return its text, which is not stored (decision E9).

    Raises UnknownCompany.
    """
    company = Company.objects.filter(pk=company_id).first()
    if company is None:
        raise UnknownCompany(f"There is no company {company_id}.")
    if company.erased_at is not None:
        raise ErasedCompany(company_id)
    token = tokens.make_token(settings.ENVIRONMENT)
    ApiToken.objects.create(company_id=company_id, **token_columns(token, expires_in))
    return token


def token_columns(token: str, expires_in: timedelta | None) -> dict[str, Any]:
    """Return the columns of a new token, which itself is not stored."""
    return {
        "prefix": tokens.token_prefix(token),
        "digest": tokens.token_digest(token),
        "expires_at": timezone.now() + expires_in if expires_in is not None else None,
    }


def issue_platform_token(*, name: str = "", expires_in: timedelta | None = None) -> str:
    """Create a platform token and return its text (N25). Raises ValueError for a long name."""
    if len(name) > 100:
        raise ValueError("The name has more than 100 characters.")
    token = tokens.make_platform_token(settings.ENVIRONMENT)
    PlatformToken.objects.create(name=name, **token_columns(token, expires_in))
    return token


def platform_last_seen() -> datetime | None:
    """Return when a platform token was last used, to the minute; None if none ever was."""
    last: datetime | None = PlatformToken.objects.aggregate(last=Max("last_used_at"))["last"]
    return last


def revoke_token(prefix_or_token: str, *, dry_run: bool = False) -> ApiToken:
    """Revoke the token with this prefix or text. Raises UnknownToken unless exactly one matches."""
    return revoke_one(ApiToken, prefix_or_token, dry_run=dry_run)


def company_of_token(prefix_or_token: str) -> int | None:
    """Return the id of the company whose token this is; None unless just one company matches."""
    companies = matching_tokens(ApiToken, prefix_or_token).values_list("company_id", flat=True)
    company_ids = list(companies.distinct()[:2])
    return company_ids[0] if len(company_ids) == 1 else None


@transaction.atomic
def revoke_tokens_of(company_id: int, *, dry_run: bool = False) -> list[ApiToken]:
    """Revoke all of a company's tokens that were live, and return them. Raises UnknownCompany."""
    if not Company.objects.filter(pk=company_id).exists():
        raise UnknownCompany(f"There is no company {company_id}.")
    now = timezone.now()
    locked = ApiToken.objects.select_for_update(no_key=True).order_by("pk")
    live_tokens = list(locked.filter(lives(now), company_id=company_id))
    if not dry_run:
        ApiToken.objects.filter(pk__in=[token.pk for token in live_tokens]).update(revoked_at=now)
    return live_tokens


def revoke_platform_token(prefix_or_token: str) -> PlatformToken:
    """Revoke a platform token. Raises UnknownToken unless exactly one matches."""
    return revoke_one(PlatformToken, prefix_or_token)


def matching_tokens(kind: type[T], prefix_or_token: str) -> QuerySet[T]:
    return kind._default_manager.filter(
        Q(digest=tokens.token_digest(prefix_or_token)) | Q(prefix=prefix_or_token.rstrip("…")),
        revoked_at=None,
    )


@transaction.atomic
def revoke_one(kind: type[T], prefix_or_token: str, *, dry_run: bool = False) -> T:
    matching = list(matching_tokens(kind, prefix_or_token).select_for_update(no_key=True)[:2])
    if len(matching) != 1:
        problem = "are several tokens that begin" if matching else "is no live token that begins"
        raise UnknownToken(f"There {problem} with {tokens.token_prefix(prefix_or_token)}.")
    token = matching[0]
    if dry_run:
        return token
    token.revoked_at = timezone.now()
    token.save(update_fields=["revoked_at"])
    return token
