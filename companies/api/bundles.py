"""Idempotency-Key for the platform's feed: one answer for work that spans many transactions.

A request that takes a minute cannot be one transaction, so the key has a lease that its process
renews. If that process dies, the lease runs out, and the next request with the key records the same
lines again, which changes nothing (decision N25).
"""

import json
from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.db import DatabaseError, InterfaceError, transaction
from django.utils import timezone

from companies.api.idempotency import OTHER_REQUEST, STILL_RUNNING, BadKey, Running
from companies.models import KeptBundle
from companies.models.kept_answers import KEPT_FOR

LEASE = timedelta(seconds=30)


@transaction.atomic
def begin_bundle(key: str, fingerprint: str) -> dict[str, Any] | None:
    """Return the earlier answer, or None: then the caller records the bundle.

    The caller must call `renew_bundle_lease` at least every LEASE, and end with `answer_bundle` or
    `release_bundle`. Raises BadKey and Running.
    """
    now = timezone.now()
    KeptBundle.objects.bulk_create(
        [KeptBundle(key=key, fingerprint=fingerprint, created_at=now)], ignore_conflicts=True
    )
    bundle = KeptBundle.objects.select_for_update().get(key=key)
    if bundle.created_at < now - KEPT_FOR:
        bundle.fingerprint, bundle.answer, bundle.created_at = fingerprint, "", now
    if bundle.fingerprint != fingerprint:
        raise BadKey(OTHER_REQUEST, code="idempotency_key_reused")
    if bundle.answer:
        answer: dict[str, Any] = json.loads(bundle.answer)
        return answer
    if bundle.busy_until and bundle.busy_until > now:
        raise Running(STILL_RUNNING)
    bundle.busy_until = now + LEASE
    bundle.save()
    return None


def renew_bundle_lease(key: str) -> None:
    KeptBundle.objects.filter(key=key).update(busy_until=timezone.now() + LEASE)


@transaction.atomic
def answer_bundle(key: str, answer: dict[str, Any]) -> dict[str, Any]:
    """Store `answer`; return the stored one, which is another's if that came first."""
    bundle = KeptBundle.objects.select_for_update().get(key=key)
    if not bundle.answer:
        bundle.answer, bundle.busy_until = json.dumps(answer), None
        bundle.save()
    stored: dict[str, Any] = json.loads(bundle.answer)
    return stored


def release_bundle(key: str) -> None:
    """Let the next request with this key begin at once; without a database, after LEASE."""
    with suppress(DatabaseError, InterfaceError):
        KeptBundle.objects.filter(key=key).update(busy_until=None)
