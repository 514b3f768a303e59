"""Actions at the desk on a company's behalf: pause and resume webhooks, send deliveries again.

Each is recorded with its user, in the admin log or, for many deliveries, in the audit log.
"""

from collections.abc import Iterable
from uuid import UUID

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext

from companies import audit
from companies.models import AuditEntry
from core.jobs.failing_rows import Outcome, try_each
from core.values.texts import is_blank
from deliveries import redelivery
from deliveries.models import Delivery, Replay
from deliveries.upkeep import replaying
from deliveries.upkeep.choosing import Choice, ChosenCount
from tickets.changes.actors import NotAllowed
from webhooks import services
from webhooks.models import Webhook

PAUSE = "webhooks.pause_webhook"
LONGEST_REASON = 300
SEND_AGAIN = "deliveries.send_again"
MOST_AT_ONCE = 200
BEGIN_REPLAY = "deliveries.add_replay"
STOP_REPLAY = "deliveries.change_replay"


@transaction.atomic
def pause_webhook(webhook_id: int, reason: str, *, user: User) -> bool:
    """Pause a webhook; return False if it was paused already.

    The company sees the reason, not the user. Raises NotAllowed, and ValueError for a bad reason.
    """
    require_permission(user, PAUSE)
    reason = reason.strip()
    if is_blank(reason) or len(reason) > LONGEST_REASON:
        text = gettext("Give a reason of at most %(longest)d characters.")
        raise ValueError(text % {"longest": LONGEST_REASON})
    if not services.pause(webhook_id, reason):
        return False
    log_act(user, webhook_id, gettext("Paused: %(reason)s") % {"reason": reason})
    return True


@transaction.atomic
def resume_webhook(webhook_id: int, *, user: User) -> bool:
    """Resume a webhook; return False if it was not paused. Raises NotAllowed."""
    require_permission(user, PAUSE)
    reason = Webhook.objects.filter(pk=webhook_id).values_list("paused_reason", flat=True).first()
    if not services.resume(webhook_id):
        return False
    text = (
        gettext("Resumed. The reason for the pause was: %(reason)s")
        if reason
        else gettext("Resumed.")
    )
    log_act(user, webhook_id, text % {"reason": reason})
    return True


def require_permission(user: User, permission: str) -> None:
    # Checked here as well as by the pages, in case a page forgets to.
    if not user.is_active or not user.has_perm(permission):
        text = gettext("%(name)s does not have the permission %(permission)s.")
        raise NotAllowed(text % {"name": user.get_username(), "permission": permission})


def log_act(user: User, webhook_id: int, message: str) -> None:
    LogEntry.objects.log_actions(
        user.pk, Webhook.objects.filter(pk=webhook_id).only("id"), CHANGE, message
    )


def send_again(delivery_ids: Iterable[UUID], *, user: User) -> Outcome[UUID]:
    """Send deliveries again now; return how many, and the refusals by delivery id.

    Deliveries of deleted webhooks and those in flight are skipped. Raises NotAllowed, and
    ValueError for more than MOST_AT_ONCE.
    """
    require_permission(user, SEND_AGAIN)
    ids = list(delivery_ids)
    if len(ids) > MOST_AT_ONCE:
        text = gettext("Send at most %(most)d deliveries again at a time.")
        raise ValueError(text % {"most": MOST_AT_ONCE})
    present = Delivery.objects.filter(pk__in=ids, webhook__deleted_at=None)
    again = 0

    def send(delivery: Delivery) -> None:
        nonlocal again
        LogEntry.objects.log_actions(user.pk, [delivery], CHANGE, gettext("Sent again."))
        again += redelivery.redeliver([delivery.pk])

    deliveries = list(present.order_by("event_id").only("id"))
    refused = try_each(deliveries, send).refused
    return Outcome(again, {delivery.pk: why for delivery, why in refused.items()})


@transaction.atomic
def send_chosen_again(
    choice: Choice, chosen: ChosenCount, *, rate: int | None, confirmed: int, user: User
) -> Replay | int:
    """Send chosen deliveries again; return the run, or how many are sent at once.

    Raises NotAllowed, and NotConfirmed unless `confirmed` is their number.
    """
    require_permission(user, BEGIN_REPLAY)
    if confirmed != chosen.deliveries:
        raise replaying.NotConfirmed(chosen)
    by = user.get_username()
    result = replaying.send_chosen(choice, chosen, by=by, rate=rate, confirmed=confirmed)
    names = ("webhook_id", "type_id", "host", "since", "until")
    values = {name: getattr(choice, name) for name in names}
    audit.record_act(
        "redeliver",
        actor=by,
        via=AuditEntry.Via.DESK,
        about=str(result) if isinstance(result, Replay) else f"{result} deliveries",
        company_id=choice.company_id,
        details={name: str(value) for name, value in values.items() if value}
        | {"state": choice.state.slug, "confirm": confirmed},
    )
    return result


@transaction.atomic
def stop_sending_again(run_id: int, *, user: User) -> Replay:
    """Stop a run, so that it makes no more deliveries due. Raises NotAllowed and NoReplay."""
    require_permission(user, STOP_REPLAY)
    run = replaying.stop_replay(run_id, by=user.get_username())
    audit.record_act(
        "redeliver",
        actor=user.get_username(),
        via=AuditEntry.Via.DESK,
        about=str(run),
        company_id=run.company_id,
        details={"stop": run.pk},
    )
    return run
