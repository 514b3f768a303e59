"""What people at the desk do to deliveries: send them again, with a line kept of who did."""

from collections.abc import Iterable
from uuid import UUID

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.db import transaction

from deliveries import redelivery
from deliveries.models import Delivery
from webhooks.support import allow

SEND_AGAIN = "deliveries.send_again"
MOST_AT_ONCE = 200


@transaction.atomic
def send_again(delivery_ids: Iterable[UUID], *, user: User) -> int:
    """Send deliveries again now; returns how many. Those of deleted webhooks are left alone.

    One in flight at this moment is left to its attempt. Raises webhooks.support.NotAllowed, and
    ValueError for more than MOST_AT_ONCE.
    """
    allow(user, SEND_AGAIN)
    ids = list(delivery_ids)
    if len(ids) > MOST_AT_ONCE:
        raise ValueError(f"Send at most {MOST_AT_ONCE} deliveries again at a time.")
    present = Delivery.objects.filter(pk__in=ids, webhook__deleted_at=None)
    chosen = list(present.order_by("event_id").only("id"))
    again = redelivery.redeliver([delivery.pk for delivery in chosen])
    if chosen:
        LogEntry.objects.log_actions(user.pk, chosen, CHANGE, "Asked to send it again.")
    return again
