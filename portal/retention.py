"""Retention of doors that are over: they explain themselves for a year to whoever opens them."""

from datetime import datetime, timedelta

from core.retention import Sweep, kind
from portal.models import PortalSession, TicketLink

EXPLAINED_FOR = timedelta(days=365)
SESSIONS_EXPLAINED_FOR = timedelta(days=7)


@kind("page", expires=True)
def forget_doors(sweep: Sweep, now: datetime) -> None:
    sessions = PortalSession.objects.filter(expires_at__lt=now - SESSIONS_EXPLAINED_FOR)
    sweep.delete("page", sessions.order_by("expires_at"), "sessions of the company's page")
    links = TicketLink.objects.filter(created_at__lt=now - EXPLAINED_FOR).exclude(
        ticket__updated_at__gt=now - EXPLAINED_FOR
    )
    sweep.delete("page", links.order_by("created_at"), "links to tickets")
