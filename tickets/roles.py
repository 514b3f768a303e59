"""Groups of the desk with the permissions that this version gives them."""

from collections.abc import Iterable, Iterator

from django.contrib.auth.models import Group, Permission, User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q, QuerySet

OURS = ("core", "companies", "webhooks", "deliveries", "shipments", "tickets", "portal", "desk")


def each(verbs: str, app: str, models: str) -> Iterator[str]:
    """Yield `app.verb_model` for every verb and model, both separated by spaces."""
    return (f"{app}.{verb}_{model}" for verb in verbs.split() for model in models.split())


# `app.codename`; a star at the end matches every permission with this prefix.
AGENT = {
    *each("view", "tickets", "ticket tickettype document comment historyentry rating"),
    "tickets.change_ticket",
    # Open a ticket for a company that calls.
    "tickets.add_ticket",
    "tickets.view_incidencelink",
    *each("view", "desk", "macro storm"),
    *each("view", "companies", "company"),
    *each("view", "shipments", "shipment incidence surcharge trackingupdate"),
    # Answer "Why did we not get the event?", and send it again.
    "webhooks.view_webhook",
    "deliveries.view_delivery",
    "deliveries.view_attempt",
    "deliveries.send_again",
}
LEAD = {
    "tickets.reopen_ticket",
    "tickets.assign_ticket",
    "tickets.export_ticket",
    *each("view add change", "tickets", "agent"),
    *each("view change", "tickets", "automation"),
    *each("view add change", "tickets", "reasoncode"),
    *each("view add change delete", "tickets", "requireddocument"),
    *each("view add change delete", "tickets", "approvallimit"),
    "tickets.change_tickettype",
    *each("view add change delete", "tickets", "shift absence slatarget filingrule"),
    *each("view add change delete", "tickets", "calendar workinghours holiday"),
    *each("add change delete", "desk", "macro"),
    "desk.answer_storm",
    "desk.view_figures",
    "desk.share_view",
    "webhooks.pause_webhook",
    "core.view_failedrow",
}
AUDITOR = {
    *(f"{app}.view_*" for app in OURS),
    *each("view", "auth", "user group"),
    "tickets.export_ticket",
}
# Operators do not see tickets: their work does not need what companies write there.
OPERATOR = {
    *each("view add change", "companies", "company"),
    *each("view", "companies", "apitoken auditentry"),
    "core.view_failedrow",
    *each("view", "shipments", "shipment incidence surcharge trackingupdate"),
    *each("view add change", "tickets", "tickettype"),
    "webhooks.view_webhook",
    "webhooks.pause_webhook",
    *each("view", "deliveries", "delivery attempt heldhost drain"),
    "deliveries.send_again",
    "deliveries.stop_sending",
    *each("view add change", "deliveries", "replay"),
    *each("view add change", "auth", "user"),
    *each("view", "auth", "group"),
    "axes.view_*",
}
GROUPS = {"agent": AGENT, "lead": AGENT | LEAD, "auditor": AUDITOR, "operator": OPERATOR}
# Roles of users who are not agents and never get tickets.
NON_AGENT_ROLES = ("auditor", "operator")


class BadUser(ValueError):
    """Invalid user; the message says why."""


@transaction.atomic
def create_user(username: str, password: str, role: str, *, email: str = "") -> User:
    """Create a user who is not an agent: an auditor or an operator. Raises BadUser."""
    if role not in NON_AGENT_ROLES:
        raise BadUser(f"There is no role {role}: {', '.join(NON_AGENT_ROLES)}.")
    user = User(username=username, email=email, is_staff=True)
    user.set_password(password)
    try:
        user.full_clean()
        validate_password(password, user)
    except ValidationError as error:
        raise BadUser(" ".join(error.messages)) from error
    user.save()
    user.groups.add(group(role))
    return user


def group(name: str) -> Group:
    """Return the group of this name; create it with its permissions if it does not exist.

    A migration cannot do this: permissions exist only after all migrations have run. Later changes
    by operators are kept.
    """
    group, is_new = Group.objects.get_or_create(name=name)
    if is_new:
        group.permissions.set(permissions(GROUPS[name]))
    return group


def permissions(names: Iterable[str]) -> QuerySet[Permission]:
    wanted = Q(pk=None)
    for name in names:
        app, _, codename = name.partition(".")
        key = "codename__startswith" if codename.endswith("*") else "codename"
        wanted |= Q(content_type__app_label=app, **{key: codename.rstrip("*")})
    return Permission.objects.filter(wanted).select_related("content_type")


def missing_permissions(name: str) -> QuerySet[Permission]:
    """Return the permissions that a new group would get and the existing one lacks."""
    has = Group.permissions.through.objects.filter(group__name=name).values("permission_id")
    return permissions(GROUPS[name]).exclude(pk__in=has)


def update(name: str) -> int:
    """Give a group the permissions of this version that it lacks; returns their number."""
    missing = list(missing_permissions(name))
    group(name).permissions.add(*missing)
    return len(missing)
