"""Settings of automations by leads, and switching them on and off."""

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
# Default waits of kinds that differ from the model's default, which is for reminders.
USUAL_WAITS = {Automation.Kind.CLOSE: 5}


def automation_for(kind: Automation.Kind, type: TicketType) -> Automation:
    """Return an automation; one that was never set up is unsaved, off, and has default waits."""
    saved = Automation.objects.filter(kind=kind, type=type).select_related("type").first()
    return saved or default_automation(kind, type)


def automations() -> list[Automation]:
    """Return the automations of every type, including those never set up."""
    saved = {(one.type_id, one.kind): one for one in Automation.objects.select_related("type")}
    return [
        saved.get((type.pk, kind.value)) or default_automation(kind, type)
        for type in TicketType.objects.all()
        for kind in Automation.Kind
    ]


def default_automation(kind: Automation.Kind, type: TicketType) -> Automation:
    usual = {"wait_days": USUAL_WAITS[kind]} if kind in USUAL_WAITS else {}
    return Automation(kind=kind, type=type, **usual)


@transaction.atomic
def save_automation(one: Automation, *, active: bool, user: User) -> Automation:
    """Save an automation's settings, switch it on or off, and reset its position.

    Raises NotAllowed.
    """
    if not user.is_active or not user.has_perm(CHANGE):
        text = gettext("%(name)s is not allowed to change automations.")
        raise NotAllowed(text % {"name": user.get_username()})
    values = {name: getattr(one, name) for name in SETTINGS}
    values |= {"active": active, "changed_at": timezone.now(), "changed_by": user}
    values |= {"ran_at": None, "looked_at": None, "looked_id": None}
    saved, _ = Automation.objects.update_or_create(kind=one.kind, type=one.type, defaults=values)
    return saved
