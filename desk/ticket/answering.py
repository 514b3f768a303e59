"""What agents send from a ticket's page: said and moved in one transaction, and once."""

from collections.abc import Sequence
from uuid import UUID, uuid5

from django.contrib.auth.models import User
from django.db import transaction

from desk.ticket import visits
from tickets import working
from tickets.changes.actors import acting
from tickets.statuses import Status


@transaction.atomic
def answer(
    ticket_id: int,
    text: str,
    *,
    user: User,
    public: bool,
    to: Status | None = None,
    version: int | None = None,
    requested: Sequence[str] = (),
    key: UUID | None = None,
) -> bool:
    """Write, move, or both; False if this very form has been taken before.

    Raises what `working` raises.
    """
    acting(user)
    sent = key and uuid5(key, repr((text, public, to, list(requested))))
    if sent and not visits.first_time(ticket_id, user, sent):
        return False
    if to is None:
        working.write(
            *(ticket_id, text),
            **{"user": user, "public": public, "version": version, "requested": requested},
        )
    else:
        working.answer(
            *(ticket_id, text),
            **{"user": user, "public": public, "to": to},
            **{"version": version, "requested": requested},
        )
    return True


@transaction.atomic
def move(
    ticket_id: int,
    to: Status,
    *,
    user: User,
    reason: str = "",
    version: int | None = None,
    requested: Sequence[str] = (),
    key: UUID | None = None,
) -> bool:
    """Move; False if this very form has been taken before. Raises what `working.move` raises."""
    acting(user)
    sent = key and uuid5(key, repr((to, reason, list(requested))))
    if sent and not visits.first_time(ticket_id, user, sent):
        return False
    working.move(
        *(ticket_id, to),
        **{"user": user, "reason": reason, "version": version, "requested": requested},
    )
    return True
