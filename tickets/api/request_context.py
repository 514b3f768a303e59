"""Actor and base address of a company's request."""

from companies.api.requests import CompanyRequest
from tickets.changes.actors import Actor
from tickets.statuses import By


def actor(request: CompanyRequest) -> Actor:
    return Actor(By.COMPANY, request.token.prefix)


def base_of(request: CompanyRequest) -> str:
    """Return the service's address as used by the caller, without a trailing slash."""
    return request.build_absolute_uri("/").rstrip("/")
