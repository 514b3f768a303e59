"""The list of the tickets that an automation would touch, by an address that has its settings.

So a lead sees which they are before anything is saved.
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


def list_address(one: Automation) -> str:
    """Of the list."""
    value = ".".join([one.kind, *(str(getattr(one, name)) for name in NUMBERS)])
    queue = "open" if one.kind == Automation.Kind.ESCALATE else "waiting"
    return f"{reverse('admin:tickets_ticket_changelist')}?queue={queue}&automation={value}"


def automation_at(value: str) -> Automation | None:
    """An automation with these settings, which is no row; None for what is no address."""
    found = ADDRESS.fullmatch(value)
    if found is None:
        return None
    numbers = dict(zip(NUMBERS, map(int, found[2].split(".")[1:]), strict=True))
    waits = [wait for name, wait in numbers.items() if name != "type_id"]
    known = TicketType.objects.filter(pk=numbers["type_id"]).exists()
    if not known or not all(1 <= wait <= LONGEST_WAIT for wait in waits):
        return None
    return Automation(kind=found[1], **numbers)


def title_of(value: str) -> str:
    one = automation_at(value)
    return gettext("unknown") if one is None else str(one)


def narrow(tickets: QuerySet[Ticket], value: str) -> QuerySet[Ticket]:
    one = automation_at(value)
    if one is None:
        return tickets.none()
    return tickets.filter(pk__in=due(one, timezone.now()).order_by().values("pk"))
