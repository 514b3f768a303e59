"""What leads set of an automation, and whether it is on."""

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from tickets.changes.actors import NotAllowed
from tickets.models import Automation, TicketType

CHANGE = "tickets.change_automation"
SETTINGS = (
    "wait_days",
    "times",
    "last_days",
    "hours_before",
    "reassigns",
    "texts",
    "last_texts",
)
# Where the wait of a new row is not that of reminders.
USUAL_WAITS = {Automation.Kind.CLOSE: 5}


def automation_for(kind: Automation.Kind, type: TicketType) -> Automation:
    """As it is set; what nobody has set yet is off, has the usual waits, and is no row."""
    found = Automation.objects.filter(kind=kind, type=type).select_related("type").first()
    return found or unset(kind, type)


def automations() -> list[Automation]:
    """Of every type, by type; also those that nobody has set."""
    known = {(one.type_id, one.kind): one for one in Automation.objects.select_related("type")}
    return [
        known.get((type.pk, kind.value)) or unset(kind, type)
        for type in TicketType.objects.all()
        for kind in Automation.Kind
    ]


def unset(kind: Automation.Kind, type: TicketType) -> Automation:
    usual = {"wait_days": USUAL_WAITS[kind]} if kind in USUAL_WAITS else {}
    return Automation(kind=kind, type=type, **usual)


@transaction.atomic
def save_automation(one: Automation, *, active: bool, user: User) -> Automation:
    """Keep these settings, and switch it on or off; it looks at all tickets anew.

    Raises NotAllowed.
    """
    if not user.is_active or not user.has_perm(CHANGE):
        text = gettext("%(name)s is not allowed to change automations.")
        raise NotAllowed(text % {"name": user.get_username()})
    kept = {name: getattr(one, name) for name in SETTINGS}
    kept |= {"active": active, "changed_at": timezone.now(), "changed_by": user}
    kept |= {"ran_at": None, "looked_at": None, "looked_id": None}
    saved, _ = Automation.objects.update_or_create(kind=one.kind, type=one.type, defaults=kept)
    return saved
