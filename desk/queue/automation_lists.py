"""The list of the tickets that an automation would touch, by an address that has its settings.

A lead sees the list before the automation is saved.
"""

import re

from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

from tickets.automations.due import due
from tickets.models import Automation, Ticket, TicketType
from tickets.models.automations import LONGEST_WAIT

NUMBERS = ("type_id", "wait_days", "times", "last_days", "hours_before")
ADDRESS = re.compile(rf"({'|'.join(Automation.Kind.values)})((?:\.[0-9]{{1,5}}){{5}})")


def list_address(automation: Automation) -> str:
    """Return the URL of the list of the tickets that an automation would touch."""
    value = ".".join([automation.kind, *(str(getattr(automation, name)) for name in NUMBERS)])
    queue = "open" if automation.kind == Automation.Kind.ESCALATE else "waiting"
    return f"{reverse('admin:tickets_ticket_changelist')}?queue={queue}&automation={value}"


def automation_at(value: str) -> Automation | None:
    """Parse the settings of an address into an unsaved automation; None if they are invalid."""
    match = ADDRESS.fullmatch(value)
    if match is None:
        return None
    numbers = dict(zip(NUMBERS, map(int, match[2].split(".")[1:]), strict=True))
    waits = [wait for name, wait in numbers.items() if name != "type_id"]
    type_exists = TicketType.objects.filter(pk=numbers["type_id"]).exists()
    if not type_exists or not all(1 <= wait <= LONGEST_WAIT for wait in waits):
        return None
    return Automation(kind=match[1], **numbers)


def title_of(value: str) -> str:
    automation = automation_at(value)
    return gettext("unknown") if automation is None else str(automation)


def narrow(tickets: QuerySet[Ticket], value: str) -> QuerySet[Ticket]:
    automation = automation_at(value)
    if automation is None:
        return tickets.none()
    return tickets.filter(pk__in=due(automation, timezone.now()).order_by().values("pk"))
