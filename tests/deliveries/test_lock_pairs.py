"""A second party at each lock of this app."""

import re
from collections.abc import Callable
from datetime import date, timedelta
from functools import partial

import pytest
from django.db import transaction
from django.utils import timezone

from deliveries import publishing, redelivery
from deliveries.engine import (
    claiming,
    holding,
    lanes,
    leases,
    recording,
    setting_aside,
    sharing,
)
from deliveries.models import Delivery, Health, Heartbeat, Loop, Replay
from deliveries.on_demand import sample_delivery
from deliveries.upkeep import deleted_webhooks, partitions, pruning, replaying, rest_rows
from deliveries.upkeep.choosing import Choice, ChosenCount
from tests import builders as build
from tests.deliveries.test_recording import claim_one, result
from tests.locks import MakePair, Pair, covered_elsewhere, pairs_in, play, shows, twice
from webhooks.models import Webhook
from webhooks.targets import host_in

covered_elsewhere(
    "deliveries/engine/leases.py::join",
    "tests/deliveries/test_turns.py::test_two_that_join_at_once_do_not_both_get_the_last_place",
)
covered_elsewhere(
    "deliveries/upkeep/replaying.py::step_replay",
    "tests/deliveries/test_replaying.py::test_two_workers_take_one_step_between_them",
)


def waiting_webhook() -> Webhook:
    """Create a webhook with a due delivery."""
    webhook = build.webhook(build.company())
    publishing.publish([build.news(webhook.company)])
    return webhook


def claims_of_two_loops() -> Pair:
    webhook = waiting_webhook()
    one, other = leases.join(2), leases.join(2)

    def claim(loop: str | None) -> int:
        return len(claiming.claim(str(loop), {webhook.pk: 9}).claimed)

    return Pair(first=partial(claim, one), second=partial(claim, other), gives=0, waits=False)


@shows("deliveries/engine/claiming.py::CLAIM")
def claim_the_same_first_attempt() -> Pair:
    return claims_of_two_loops()


@shows("deliveries/engine/claiming.py::CLAIM")
def claim_the_same_retry() -> Pair:
    pair = claims_of_two_loops()
    Delivery.objects.update(step=1)
    return pair


@shows("deliveries/redelivery.py::AGAIN")
def send_the_same_again() -> Pair:
    waiting_webhook()
    recording.record_attempts([result(claim_one())])
    delivery = Delivery.objects.get().pk
    return twice(partial(redelivery.reopen, [delivery]), 1)


@shows("deliveries/engine/lanes.py::TAKE")
def take_the_same_webhook() -> Pair:
    waiting_webhook()
    one, other = leases.join(2), leases.join(2)

    def take(loop: str | None) -> list[lanes.Woken]:
        return lanes.take(str(loop), 9)[0]

    return Pair(first=partial(take, one), second=partial(take, other), gives=[], waits=False)


def silence_loops() -> None:
    Heartbeat.objects.update(lease_until=timezone.now() - timedelta(seconds=1))


@shows("deliveries/engine/leases.py::LOSE")
def take_over_from_the_same_loop() -> Pair:
    """Pass by, or a loop that froze in the middle of it would stop all others."""
    leases.join(1)
    silence_loops()
    return twice(leases.take_over, [], waits=False)


@shows("deliveries/engine/leases.py::LOSE")
def take_over_while_somebody_forgets_a_loop() -> Pair:
    leases.join(1)
    silence_loops()
    leases.take_over()
    Loop.objects.update(lost_at=timezone.now() - timedelta(hours=1))
    return twice(leases.take_over, [], waits=False)


@shows("deliveries/engine/leases.py::LOSE")
def renew_while_others_take_over() -> Pair:
    """Wait, and renew nothing: a loop never works on after others have marked it as lost."""
    loop = str(leases.join(1))
    silence_loops()
    return Pair(
        first=leases.take_over,
        second=partial(leases.renew, loop),
        gives=None,
        at=re.compile("UPDATE deliveries_heartbeat"),
    )


@shows("deliveries/engine/leases.py::LOSE")
def take_over_from_a_loop_that_renews() -> Pair:
    loop = str(leases.join(1))
    silence_loops()
    return Pair(first=partial(leases.renew, loop), second=leases.take_over, gives=[], waits=False)


@shows("deliveries/engine/leases.py::LOSE")
def take_over_from_a_loop_that_is_given_webhooks() -> Pair:
    """Pass by, or a loop that froze while it hands over would stop all others."""
    webhook = waiting_webhook()
    one = str(leases.join(2))
    leases.join(2)
    lanes.take(one, 9)

    def take_over() -> list[str]:
        Heartbeat.objects.exclude(pk=one).update(lease_until=timezone.now() - timedelta(seconds=1))
        return leases.take_over()

    return Pair(
        first=partial(sharing.transfer, one, [webhook.pk]), second=take_over, gives=[], waits=False
    )


@shows("deliveries/engine/sharing.py::TRANSFER")
def give_to_a_loop_that_leaves() -> Pair:
    webhook = waiting_webhook()
    one, other = str(leases.join(2)), str(leases.join(2))
    lanes.take(one, 9)
    return Pair(
        first=partial(sharing.transfer, one, [webhook.pk]),
        second=partial(leases.leave, other),
        at=re.compile("DELETE FROM deliveries_loop"),
    )


@shows("deliveries/engine/holding.py::STILL_HELD")
def wait_for_a_host_that_is_being_released() -> Pair:
    """Wait for the release, or the webhook would rest for half a minute after it."""
    webhook = waiting_webhook()
    host = host_in(webhook.url)
    holding.hold_host(host, by="olga")

    def release() -> bool:
        holding.release_host(host)
        soon = timezone.now() + timedelta(seconds=setting_aside.HOLD_SECONDS / 2)
        return Health.objects.get(webhook=webhook.pk).resting_until < soon

    return Pair(
        first=partial(holding.wait_for_hosts, {webhook.pk: host}),
        second=release,
        gives=True,
        at=re.compile("DELETE FROM .deliveries_heldhost"),
    )


@shows("deliveries/on_demand/sample_delivery.py::take_place")
def take_the_last_place_for_a_test() -> Pair:
    take = partial(sample_delivery.take_place, build.company().pk)
    for _ in range(sample_delivery.PER_COMPANY - 1):
        take()
    return twice(take, sample_delivery.TooManyTestSends)


@shows("deliveries/publishing.py::PUBLISH")
def read_while_somebody_publishes() -> Pair:
    webhook = waiting_webhook()
    return Pair(
        first=partial(publishing.publish, [build.news(webhook.company)]),
        second=publishing.settled_number,
        gives=publishing.newest_number(),
        waits=False,
    )


@shows("deliveries/upkeep/deleted_webhooks.py::CANCEL")
def cancel_the_same_deliveries() -> Pair:
    waiting_webhook()
    Webhook.objects.update(deleted_at=timezone.now())
    return twice(deleted_webhooks.cancel_deliveries, gives=0, waits=False)


@shows("deliveries/upkeep/pruning.py::ABANDONED")
def abandon_the_same_deliveries() -> Pair:
    waiting_webhook()
    Webhook.objects.update(active=False)
    lines: list[str] = []
    output = pruning.PruneRun(lines.append, lambda text: None, dry_run=False)
    later = timezone.now() + timedelta(hours=1)

    def abandon() -> int:
        lines.clear()
        pruning.cancel_abandoned(later, output)
        return len(lines)

    return twice(abandon, gives=0, waits=False)


def run_of_one() -> Replay:
    build.company()
    choice = Choice(until=timezone.now())
    run = replaying.send_chosen(choice, ChosenCount(deliveries=1), by="root", rate=1)
    assert isinstance(run, Replay)
    return run


@shows("deliveries/upkeep/replaying.py::stop_replay")
def stop_the_same_run() -> Pair:
    return twice(partial(replaying.stop_replay, run_of_one().pk, by="root"), replaying.NoReplay)


EVENTS = partitions.TABLES[0]
FAR = date(2090, 5, 1)


def while_read(table: str, change: Callable[[], object]) -> Pair:
    """Pair a change of the tables, which is rolled back, with a reader of one of them."""

    def read() -> None:
        with transaction.get_connection().cursor() as cursor:
            cursor.execute(f"SELECT count(*) FROM ONLY {table}")  # noqa: S608 - our own names

    def change_and_take_back() -> None:
        with transaction.atomic():
            change()
            transaction.set_rollback(True)

    return Pair(first=read, second=change_and_take_back, at=re.compile("LOCK TABLE"))


@shows("deliveries/upkeep/rest_rows.py::LOCK")
def make_a_week_of_what_is_read() -> Pair:
    return while_read("deliveries_event_rest", partial(rest_rows.make_week, EVENTS, FAR))


@shows("deliveries/upkeep/rest_rows.py::SWAP")
def swap_what_is_read() -> Pair:
    swap = partial(rest_rows.make_rest_a_partition, EVENTS, FAR, FAR + rest_rows.WEEK)
    return while_read("deliveries_event", swap)


@pytest.mark.usefixtures("rows_to_keep")
@pytest.mark.parametrize("make", pairs_in(__name__), ids=lambda make: make.__name__)
def test_second_party_waits_or_passes_by(make: MakePair) -> None:
    play(make())
