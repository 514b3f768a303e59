"""Who asks, and at which address."""

from companies.api.requests import CompanyRequest
from tickets.changes.actors import Actor
from tickets.statuses import By


def actor(request: CompanyRequest) -> Actor:
    return Actor(By.COMPANY, request.token.prefix)


def base_of(request: CompanyRequest) -> str:
    """The service's own address as the caller reached it, without a slash at the end."""
    return request.build_absolute_uri("/").rstrip("/")
