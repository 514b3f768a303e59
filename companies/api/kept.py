"""Deletion of answers that were kept for an Idempotency-Key."""

import math

from django.utils import timezone

from companies.models import KeptAnswer, KeptBundle
from companies.models.kept_answers import KEPT_FOR
from core.data.old_rows import delete_in_steps


def forget_kept_answers(*, dry_run: bool = False, most: float = math.inf) -> int:
    """Delete what was kept for an Idempotency-Key and is past its time; returns how many."""
    forgotten, before = 0, timezone.now() - KEPT_FOR
    for model in (KeptAnswer, KeptBundle):
        old = model._base_manager.filter(created_at__lt=before).order_by("created_at")
        forgotten += delete_in_steps(old, dry_run=dry_run, most=most)
    return forgotten
