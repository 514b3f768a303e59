"""Operators' actions on sending: those of the commands, audited with the user's name."""

from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from companies import audit
from companies.models import AuditEntry
from deliveries.engine import holding
from deliveries.models import HeldHost
from desk.support.actions import require_permission

SEE = "deliveries.view_heldhost"
STOP = "deliveries.stop_sending"


@transaction.atomic
def hold_at_desk(
    host: str, *, user: User, reason: str, public_reason: str, hours: int | None
) -> HeldHost:
    """Hold a host as `hold_host` does. Raises NotAllowed and InvalidHost."""
    require_permission(user, STOP)
    by = user.get_username()
    row = holding.hold_host(host, by=by, reason=reason, public_reason=public_reason, hours=hours)
    details = {"reason": reason, "tell_companies": public_reason, "hours": hours}
    note_act(user, "hold_host", row.host, {name: value for name, value in details.items() if value})
    return row


@transaction.atomic
def release_at_desk(host: str, *, user: User) -> bool:
    """Release a host; return False if it was not held. Raises NotAllowed and InvalidHost."""
    require_permission(user, STOP)
    released = holding.release_host(host)
    if released:
        note_act(user, "release_host", host)
    return released


@transaction.atomic
def drain_at_desk(*, user: User, reason: str) -> None:
    """Stop all loops from claiming deliveries. Raises NotAllowed."""
    require_permission(user, STOP)
    holding.drain_loops(by=user.get_username(), reason=reason)
    note_act(user, "drain", "", {"reason": reason} if reason else None)


@transaction.atomic
def resume_at_desk(*, user: User) -> datetime | None:
    """Let the loops claim again; return when they were drained, or None. Raises NotAllowed."""
    require_permission(user, STOP)
    since = holding.resume_sending()
    if since:
        note_act(user, "resume", "")
    return since


def note_act(user: User, act: str, about: str, details: dict[str, Any] | None = None) -> None:
    actor, via = user.get_username(), AuditEntry.Via.DESK
    audit.record_act(act, actor=actor, via=via, about=about, details=details)
