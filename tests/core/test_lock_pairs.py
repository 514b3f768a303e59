"""A second party at each lock of this app."""

from functools import partial

import pytest

from core.data import locks, reencryption
from shipments.locks import hold_shipment
from tests import builders as build
from tests.locks import (
    MakePair,
    Pair,
    covered_elsewhere,
    in_transaction,
    pairs_in,
    play,
    shows,
    twice,
)
from webhooks.models import Webhook

covered_elsewhere(
    "core/mailing/outbox.py::CLAIM",
    "tests/core/test_mailing.py::test_two_tasks_never_claim_the_same_email",
)


@shows("core/data/locks.py::TRY_KEY")
def try_the_same_key() -> Pair:
    return twice(in_transaction(partial(locks.try_key, 1, "k")), gives=False, waits=False)


@shows("core/data/locks.py::hold")
def hold_the_same_lock() -> Pair:
    return twice(in_transaction(partial(locks.hold, locks.LockClass.LOOPS)))


@shows("core/data/locks.py::HOLD_SHIPMENTS")
def hold_the_same_shipment() -> Pair:
    return twice(in_transaction(partial(hold_shipment, 1, 5)))


@shows("core/data/reencryption.py::rewrite")
def rewrite_the_same_secrets() -> Pair:
    webhook = build.webhook(build.company())
    return twice(partial(reencryption.rewrite, Webhook, ["secret"], [webhook.pk]))


@pytest.mark.usefixtures("rows_to_keep")
@pytest.mark.parametrize("make", pairs_in(__name__), ids=lambda make: make.__name__)
def test_second_party_waits_or_passes_by(make: MakePair) -> None:
    play(make())
