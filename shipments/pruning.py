"""Retention of what the feed told."""

import math
from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from companies.old_rows import delete_oldest
from shipments.models import TrackingUpdate


def prune_updates(
    before: datetime,
    *,
    needed: QuerySet[Any, Any],
    dry_run: bool = False,
    show: Callable[[str], None] = lambda text: None,
    most: float = math.inf,
) -> int:
    """Forget the tracking updates of shipments that nothing was heard of since a time.

    `needed` are ids of shipments whose updates stay all the same, in a column `shipment_id`.
    Returns how many were forgotten; having forgotten `most` or more it leaves the others to the
    next call. A line of the feed that tells a forgotten update again is new.
    """

    def choose(keys: list[int]) -> list[int]:
        old = TrackingUpdate.objects.filter(pk__in=keys)
        shipments = set(old.values_list("shipment_id", flat=True))
        heard_of = TrackingUpdate.objects.filter(shipment__in=shipments, occurred_at__gte=before)
        spared = {
            *heard_of.values_list("shipment_id", flat=True),
            *needed.filter(shipment_id__in=shipments).values_list("shipment_id", flat=True),
        }
        return list(old.exclude(shipment__in=spared).values_list("pk", flat=True))

    return delete_oldest(
        TrackingUpdate.objects.all(),
        "occurred_at",
        before,
        dry_run=dry_run,
        choose=choose,
        show=show,
        most=most,
    )
