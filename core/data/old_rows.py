"""Deletion of old rows in steps, each a short statement that is committed by itself."""

import math
from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

STEP = 5_000


def delete_in_steps(rows: QuerySet[Any], *, dry_run: bool = False, most: float = math.inf) -> int:
    """Delete the rows of a queryset that an index supports; return how many.

    Once `most` or more are deleted, the others are left to the next call.
    """
    if dry_run:
        return rows.count()
    deleted = 0
    while deleted < most and (keys := list(rows.values_list("pk", flat=True)[:STEP])):
        deleted += delete_rows_by_key(rows, keys)
    return deleted


def delete_oldest(
    rows: QuerySet[Any],
    time: str,
    before: datetime,
    *,
    dry_run: bool = False,
    show: Callable[[str], None] = lambda text: None,
    most: float = math.inf,
) -> int:
    """Delete rows whose column `time` is earlier than `before`; return how many.

    For rows whose time rises with their keys and has no index: they are scanned in key order, up
    to the first step with nothing old in it. `show` is called with the progress. Once `most` or
    more are deleted, the others are left to the next call.
    """
    deleted, last = 0, None
    while deleted < most:
        remaining = rows if last is None else rows.filter(pk__gt=last)
        step = list(remaining.order_by("pk").values_list("pk", time)[:STEP])
        old = [key for key, at in step if at < before]
        if not old:
            return deleted
        last = step[-1][0]
        deleted += len(old) if dry_run else delete_rows_by_key(rows, old)
        show(f"{rows.model._meta.verbose_name_plural}: {deleted}")
    return deleted


def delete_rows_by_key(rows: QuerySet[Any], keys: list[Any]) -> int:
    return int(rows.model._base_manager.filter(pk__in=keys).delete()[0]) if keys else 0
