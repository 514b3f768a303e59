"""Links in emails that open a ticket on the company's page, and their end."""

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from companies import audit
from companies.models import AuditEntry
from portal import access
from tickets.changes.actors import actor_for
from tickets.models import Ticket


def link_count() -> Coalesce:
    """Return an expression for the number of links that open a ticket now."""
    links = access.live_links(timezone.now()).filter(ticket=OuterRef("pk")).order_by()
    counted = links.values("ticket").annotate(number=Count("pk")).values("number")
    return Coalesce(Subquery(counted), 0)


@transaction.atomic
def end_links(ticket: Ticket, user: User) -> int:
    """End the links to a ticket at once; return their number. Raises NotAllowed."""
    actor = actor_for(user)
    ended = access.end_doors(ticket_id=ticket.pk).links
    if ended:
        audit.record_act(
            "revoke_links",
            actor=actor.name,
            via=AuditEntry.Via.DESK,
            about=f"ticket {ticket.pk}",
            company_id=ticket.company_id,
            details={"ended": ended},
        )
    return ended
