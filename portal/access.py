"""Doors of the company's page: links in emails, and sessions that the platform opens (N31).

A door is found by the digest of its secret at every request, so ending it counts at once. Opening
a link writes nothing, because mail servers follow links too.
"""

import secrets
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from companies import audit
from companies.api_acts import COMPANY
from companies.models import ApiToken, AuditEntry, Company
from companies.models.tokens import ApiTokenQuerySet
from companies.tokens import token_digest
from core.mailing.own_address import own_address
from portal.models import PortalSession, TicketLink
from tickets.models import Ticket

# 192 random bits.
SECRET_BYTES = 24
URL_LIFETIME = timedelta(minutes=5)
SESSION_LIFETIME = timedelta(hours=8)


class EndedDoors(NamedTuple):
    """Numbers of doors that were ended."""

    links: int
    sessions: int


def link_to(ticket: Ticket) -> str:
    """Create a link to a ticket for an email, and return its address; empty without a page."""
    address = own_address()
    if not settings.COMPANY_PAGE or not address:
        return ""
    secret = secrets.token_urlsafe(SECRET_BYTES)
    TicketLink.objects.create(ticket=ticket, digest=token_digest(secret), created_at=timezone.now())
    return f"{address}/c/k/{secret}"


def live_links(now: datetime) -> QuerySet[TicketLink]:
    """Filter links that open their ticket: until LINK_DAYS after its last change."""
    return TicketLink.objects.filter(
        ended_at=None,
        ticket__company__active=True,
        ticket__updated_at__gt=now - settings.LINK_LIFETIME,
    )


def find_link(secret: str) -> TicketLink | None:
    """Return the live link of this secret, with its ticket and company."""
    found = live_links(timezone.now()).filter(digest=token_digest(secret))
    return found.select_related("ticket__company").first()


def note_use(link_id: int, company_id: int) -> None:
    """Record the first act through a link."""
    if TicketLink.objects.filter(pk=link_id, used_at=None).update(used_at=timezone.now()):
        record_opening(company_id, f"link {link_id}")


def end_links(links: QuerySet[TicketLink]) -> int:
    """End links at once; return how many were not ended before."""
    return links.filter(ended_at=None).update(ended_at=timezone.now())


def issue_session(
    company: Company, token: ApiToken, *, ticket_id: int | None = None, **choices: Any
) -> tuple[str, datetime]:
    """Create a session; return the secret of the address that opens it, and its expiry.

    `choices` are fields of PortalSession: its parts, language and return_url. Raises
    Ticket.DoesNotExist for a ticket of somebody else.
    """
    ticket = company.tickets.only("pk").get(pk=ticket_id) if ticket_id is not None else None
    now, secret = timezone.now(), secrets.token_urlsafe(SECRET_BYTES)
    PortalSession.objects.create(
        company=company,
        token=token,
        ticket=ticket,
        url_digest=token_digest(secret),
        created_at=now,
        expires_at=now + URL_LIFETIME,
        **choices,
    )
    return secret, now + URL_LIFETIME


def live_sessions(now: datetime) -> QuerySet[PortalSession]:
    """Filter sessions, open ones and others, until the token that asked for them is revoked."""
    token: ApiTokenQuerySet = ApiToken.objects.live(now).filter(pk=OuterRef("token"))
    return PortalSession.objects.filter(Exists(token), ended_at=None, expires_at__gt=now)


def open_session(secret: str) -> tuple[PortalSession, str] | None:
    """Use up the address of a session; return the session, and the secret of its cookie.

    Returns None if the address is unknown, over, or was used before.
    """
    now, key = timezone.now(), secrets.token_urlsafe(SECRET_BYTES)
    unopened = live_sessions(now).filter(url_digest=token_digest(secret), key_digest=None)
    if not unopened.update(key_digest=token_digest(key), expires_at=now + SESSION_LIFETIME):
        return None
    opened = PortalSession.objects.select_related("company", "token")
    session = opened.get(key_digest=token_digest(key))
    record_opening(session.company_id, f"session {session.pk}", token=session.token.prefix)
    return session, key


def find_session(key: str) -> PortalSession | None:
    """Return the open session of this cookie, with its company and token."""
    found = live_sessions(timezone.now()).filter(key_digest=token_digest(key))
    return found.select_related("company", "token").first()


def was_door(secret: str) -> bool:
    """Return whether this is the secret of a link, or of a session's address, open or not."""
    digest = token_digest(secret)
    return (
        TicketLink.objects.filter(digest=digest).exists()
        or PortalSession.objects.filter(url_digest=digest).exists()
    )


def end_sessions(sessions: QuerySet[PortalSession]) -> int:
    """End sessions at once; return how many were not over."""
    now = timezone.now()
    return sessions.filter(ended_at=None, expires_at__gt=now).update(ended_at=now)


def doors(
    *, ticket_id: int | None = None, company_id: int | None = None
) -> tuple[QuerySet[Any], QuerySet[Any]]:
    """Return links and sessions, oldest first, with `live`; a ticket has no sessions."""
    now, own = timezone.now(), OuterRef("pk")
    links: Any = TicketLink.objects.annotate(live=Exists(live_links(now).filter(pk=own)))
    sessions: Any = PortalSession.objects.annotate(live=Exists(live_sessions(now).filter(pk=own)))
    if ticket_id is not None:
        links, sessions = links.filter(ticket=ticket_id), sessions.none()
    if company_id is not None:
        links = links.filter(ticket__company=company_id)
        sessions = sessions.filter(company=company_id)
    return links.order_by("pk"), sessions.order_by("pk")


@transaction.atomic
def end_doors(
    *, ticket_id: int | None = None, company_id: int | None = None, dry_run: bool = False
) -> EndedDoors:
    """End the live links to a ticket; or those of a company, and its sessions."""
    found = doors(ticket_id=ticket_id, company_id=company_id)
    links, sessions = found[0].filter(live=True), found[1].filter(live=True)
    if dry_run:
        return EndedDoors(links.count(), sessions.count())
    return EndedDoors(end_links(links), end_sessions(sessions))


def stop_company(company_id: int) -> None:
    """End the doors of a company that is switched off, for good (decision N31)."""
    end_links(TicketLink.objects.filter(ticket__company=company_id))
    end_sessions(PortalSession.objects.filter(company=company_id))


def record_opening(company_id: int, about: str, **details: str) -> None:
    """Record in the audit log that somebody of a company came in."""
    audit.record_act(
        "portal_open",
        actor=COMPANY,
        via=AuditEntry.Via.API,
        about=about,
        company_id=company_id,
        details=details,
    )
