"""Lanes: the webhooks that a loop works on, and that no due delivery is missed."""

from contextlib import closing
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from companies.models import Company
from core.data import encryption
from deliveries import publishing, redelivery, statements
from deliveries.engine import lanes, leases, recording, rendering, sharing
from deliveries.engine.fronts import BEGINNING
from deliveries.engine.slots import SLOTS
from deliveries.http.transport import Transport
from deliveries.models import Delivery, Health, Heartbeat, Loop, State, TakenLane, Wakeup
from deliveries.monitoring import backlog
from tests import builders as build
from tests.deliveries.test_recording import failed, result
from tests.sending import claim, engine, loop_id, pages_read, taking
from webhooks import services
from webhooks.models import Webhook
from webhooks.targets import Policy

HOUR = timedelta(hours=1)
NEWEST = lanes.FROM_THE_NEWEST


def woken(loop: str = "") -> set[int]:
    lanes_taken, *_ = lanes.take(loop or loop_id(), 100)
    return {each.webhook_id for each in lanes_taken}


@pytest.fixture
def webhook(company: Company) -> Webhook:
    return build.webhook(company)


def test_publishing_wakes_the_webhooks_that_listen(company: Company, birch: Company) -> None:
    webhook, other_type = build.webhook(company), build.webhook(company, type_id=4)
    build.webhook(birch)
    publishing.publish([build.news(company, 1), build.news(company, 2)])

    assert [each.webhook_id for each in Wakeup.objects.all()] == [webhook.pk]
    assert woken() == {webhook.pk}
    assert not Wakeup.objects.exists()
    assert other_type.pk not in set(TakenLane.objects.values_list("pk", flat=True))


def test_a_webhook_belongs_to_one_loop_at_a_time(company: Company, webhook: Webhook) -> None:
    first, second = leases.join(2), leases.join(2)
    publishing.publish([build.news(company)])
    assert woken(first) == {webhook.pk}

    publishing.publish([build.news(company)])

    assert woken(second) == set()
    assert [(each.webhook_id, each.is_new) for each in lanes.take(first, 10)[0]] == [
        (webhook.pk, False)
    ]


def test_webhook_released_unfinished_wakes_up_again(company: Company, webhook: Webhook) -> None:
    first, second = leases.join(2), leases.join(2)
    publishing.publish([build.news(company)])
    woken(first)

    lanes.release(first, [webhook.pk], unfinished=[webhook.pk])

    assert woken(second) == {webhook.pk}


def test_released_webhook_sleeps_until_a_delivery_is_due(
    company: Company, webhook: Webhook
) -> None:
    publishing.publish([build.news(company)])
    woken()
    lanes.release(loop_id(), [webhook.pk])
    assert woken() == set()

    publishing.publish([build.news(company)])

    assert woken() == {webhook.pk}


def test_only_its_own_loop_releases_a_webhook(company: Company, webhook: Webhook) -> None:
    first, second = leases.join(2), leases.join(2)
    publishing.publish([build.news(company)])
    woken(first)

    lanes.release(second, [webhook.pk], unfinished=[webhook.pk])

    assert str(TakenLane.objects.get().loop_id) == first
    assert not Wakeup.objects.exists()


def test_looks_in_the_order_of_time_and_says_if_there_is_more(company: Company) -> None:
    webhooks = [build.webhook(company).pk for _ in range(5)]
    now = timezone.now()
    for place, webhook_id in enumerate(reversed(webhooks)):
        Wakeup.objects.create(webhook_id=webhook_id, due_at=now - timedelta(seconds=10 - place))
    Wakeup.objects.create(webhook_id=webhooks[0], due_at=now + HOUR)

    first, more, *_ = lanes.take(loop_id(), 3)
    second, no_more, *_ = lanes.take(loop_id(), 3)

    assert {each.webhook_id for each in first} == set(webhooks[2:])
    assert {each.webhook_id for each in second} == set(webhooks[:2])
    assert (more, no_more) == (True, False)


def test_hears_its_own_webhooks_behind_a_crowd_of_others(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lanes, "SIZES", {"end": 3, "few": 16})
    ours = build.webhook(company)
    publishing.publish([build.news(company)])
    woken()
    for seconds in range(10, 0, -1):
        other = build.webhook(company).pk
        Wakeup.objects.create(webhook_id=other, due_at=timezone.now() - timedelta(seconds=seconds))
    Wakeup.objects.create(webhook_id=ours.pk, due_at=timezone.now())

    taken_lanes, more, *_ = lanes.take(loop_id(), 1)

    assert ours.pk in {each.webhook_id for each in taken_lanes}
    assert (len(taken_lanes), more) == (2, True)


def test_loops_share_what_wakes_up_at_once(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lanes, "SIZES", {"end": 512, "few": 2})
    first, second = leases.join(2), leases.join(2)
    webhooks = {build.webhook(company).pk for _ in range(10)}
    publishing.publish([build.news(company)])

    at_first = woken(first)
    assert len(at_first) == 5
    # Each loop gets a few, in any case.
    in_turn = [woken(first), woken(second)]

    assert [len(each) for each in in_turn] == [2, 3]
    assert at_first.union(*in_turn) == webhooks


def test_leaves_webhooks_that_are_paused_deleted_or_resting(company: Company) -> None:
    paused, deleted, resting, well = (build.webhook(company) for _ in range(4))
    publishing.publish([build.news(company)])
    services.pause(paused.pk, "for a test")
    services.delete_webhook(company, deleted.pk)
    Health.objects.create(webhook=resting, failures=5, resting_until=timezone.now() + HOUR)

    assert woken() == {well.pk}
    assert TakenLane.objects.count() == 1
    assert not Wakeup.objects.exists()


def test_a_resumed_webhook_wakes_up(company: Company, webhook: Webhook) -> None:
    services.pause(webhook.pk, "for a test")
    publishing.publish([build.news(company)])
    assert woken() == set()

    services.resume(webhook.pk)

    assert woken() == {webhook.pk}


def test_a_retry_wakes_its_webhook_when_it_is_due(company: Company, webhook: Webhook) -> None:
    publishing.publish([build.news(company)])
    woken()

    recording.record_attempts([failed(claim(1)[0], wait=300)])

    wakeup = Wakeup.objects.get()
    delivery = Delivery.objects.get()
    assert delivery.due_at <= wakeup.due_at <= delivery.due_at + timedelta(seconds=1)


def test_retries_of_one_second_share_a_wakeup(company: Company, webhook: Webhook) -> None:
    publishing.publish([build.news(company, shipment) for shipment in range(50)])
    woken()

    refused = {"status": 500, "error": "", "unreachable": False}
    recording.record_attempts([failed(each, wait=300, **refused) for each in claim()])

    assert Wakeup.objects.count() == 1


def test_the_next_of_a_shipment_wakes_its_webhook(company: Company, webhook: Webhook) -> None:
    publishing.publish([build.news(company, 1), build.news(company, 1)])
    woken()
    (first,) = claim()
    Wakeup.objects.all().delete()

    recording.record_attempts([result(first)])

    assert woken() == {webhook.pk}
    assert len(claim()) == 1


def test_parked_delivery_wakes_up_with_the_older_one(company: Company, webhook: Webhook) -> None:
    publishing.publish([build.news(company, 1), build.news(company, 1)])
    woken()
    head = Delivery.objects.order_by("event_id")[0]
    later = timezone.now() + timedelta(minutes=2)
    Delivery.objects.filter(pk=head.pk).update(due_at=later, first_attempt_at=timezone.now())

    assert claim() == []

    assert Wakeup.objects.get().due_at == later


def test_a_rest_ends_with_a_wakeup(company: Company, webhook: Webhook) -> None:
    publishing.publish([build.news(company, shipment) for shipment in range(3)])
    woken()

    for _ in range(3):
        recording.record_attempts([failed(claim(1)[0], wait=300)])

    until = Health.objects.get().resting_until
    assert until in set(Wakeup.objects.values_list("due_at", flat=True))


def test_a_rest_that_was_asked_for_ends_with_a_wakeup(company: Company, webhook: Webhook) -> None:
    publishing.publish([build.news(company)])
    woken()

    recording.record_attempts([failed(claim(1)[0], wait=600, rest=250.0)])

    until = Health.objects.get().resting_until
    assert until in set(Wakeup.objects.values_list("due_at", flat=True))


def test_a_success_that_ends_a_rest_wakes_its_webhook(company: Company, webhook: Webhook) -> None:
    publishing.publish([build.news(company, shipment) for shipment in range(2)])
    Health.objects.create(webhook=webhook, failures=3)
    (first, _) = claim()
    Health.objects.update(resting_until=timezone.now() + HOUR)
    assert woken() == set()

    recording.record_attempts([result(first)], [webhook.pk])

    assert woken() == {webhook.pk}


def test_redelivering_wakes_the_webhook(company: Company, webhook: Webhook) -> None:
    publishing.publish([build.news(company)])
    woken()
    recording.record_attempts([failed(claim(1)[0], state=State.GIVEN_UP)])
    assert woken() == set()

    redelivery.redeliver([Delivery.objects.get().pk])

    assert woken() == {webhook.pk}


def test_the_webhooks_of_a_lost_loop_are_anybodys(company: Company, webhook: Webhook) -> None:
    first, second = leases.join(2), leases.join(2)
    publishing.publish([build.news(company)])
    woken(first)
    Heartbeat.objects.filter(pk=first).update(lease_until=timezone.now() - timedelta(seconds=1))

    assert leases.take_over() == [first]

    assert woken(second) == {webhook.pk}
    assert leases.renew(first) is None
    assert leases.renew(second)[:2] == (False, False)


def test_a_loop_that_was_given_up_takes_no_webhooks(company: Company, webhook: Webhook) -> None:
    """Refuse it: its statement was on its way for longer than its lease."""
    late, other = str(leases.join(2)), str(leases.join(2))
    publishing.publish([build.news(company)])
    Loop.objects.filter(pk=late).update(lost=True)

    assert lanes.take(late, 10).woken == []
    assert not TakenLane.objects.exists()
    assert woken(other) == {webhook.pk}


def test_webhooks_of_loops_that_are_no_more_are_anybody_s(
    company: Company, birch: Company, webhook: Webhook
) -> None:
    late, ended, other = str(leases.join(3)), str(leases.join(3)), str(leases.join(3))
    theirs, other_webhook = build.webhook(birch), build.webhook(birch, type_id=4)
    owners = {webhook: late, theirs: ended, other_webhook: other}
    for each, loop in owners.items():
        TakenLane.objects.create(webhook_id=each.pk, loop_id=loop)
    Loop.objects.filter(pk=late).update(lost=True)
    Loop.objects.filter(pk=ended).delete()

    assert leases.free_orphaned() == 2
    assert woken(other) == {webhook.pk, theirs.pk}
    assert leases.free_orphaned() == 0
    assert lanes_of(other) == {webhook.pk, theirs.pk, other_webhook.pk}


def test_a_loop_whose_lease_has_run_out_goes_on_where_nobody_took_over(db: None) -> None:
    loop = leases.join(1)
    Heartbeat.objects.update(lease_until=timezone.now() - timedelta(seconds=60))

    assert leases.renew(loop)[:2] == (False, False)
    assert leases.take_over() == []


def test_there_are_no_more_loops_than_asked_for(db: None) -> None:
    first, second = leases.join(2), leases.join(2)
    assert leases.join(2) is None

    leases.leave(first)

    assert leases.join(2) not in (None, first, second)


def test_lost_loops_are_forgotten_in_time(db: None) -> None:
    leases.join(1)
    Heartbeat.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    leases.take_over()
    Loop.objects.update(lost_at=timezone.now() - timedelta(seconds=119))
    leases.take_over()
    assert Loop.objects.count() == 1

    Loop.objects.update(lost_at=timezone.now() - timedelta(seconds=121))
    leases.take_over()

    assert Loop.objects.count() == 0


def many_webhooks(company: Company, count: int) -> list[int]:
    """Create webhooks with an event that waits."""
    ids = [build.webhook(company).pk for _ in range(count)]
    publishing.publish([build.news(company)])
    return ids


def lanes_of(loop: str) -> set[int]:
    return set(TakenLane.objects.filter(loop_id=loop).values_list("pk", flat=True))


def test_a_loop_that_joins_is_given_its_part(company: Company) -> None:
    first = leases.join(2)
    ids = many_webhooks(company, 24)
    woken(first)
    assert sharing.surplus(first) == 0
    second = leases.join(2)
    assert sharing.surplus(first) == 12

    sharing.transfer(first, ids[:12])

    assert (lanes_of(first), lanes_of(second)) == (set(ids[12:]), set(ids[:12]))
    assert {(each.webhook_id, each.is_new) for each in lanes.take(second, 100)[0]} == {
        (webhook_id, False) for webhook_id in ids[:12]
    }
    assert sharing.surplus(first) == sharing.surplus(second) == 0


def test_the_first_loop_gets_back_what_others_have_little_to_do_with(company: Company) -> None:
    first, second, third = (leases.join(3) for _ in range(3))
    ids = many_webhooks(company, 12)
    woken(second)
    sharing.transfer(second, ids[:4])
    assert lanes_of(first) == set(ids[:4])

    sharing.transfer(second, ids[4:], hand_back=True)

    assert (lanes_of(first), lanes_of(third)) == (set(ids), set())


def test_the_first_loop_is_the_oldest_that_lives(db: None) -> None:
    first, second = leases.join(2), leases.join(2)
    assert [leases.renew(loop).first for loop in (first, second)] == [True, False]

    Heartbeat.objects.filter(pk=first).update(lease_until=timezone.now() - timedelta(seconds=1))

    assert leases.renew(second).first


def test_a_loop_that_stands_by_takes_what_is_left_alone(company: Company, webhook: Webhook) -> None:
    second = leases.join(2)
    publishing.publish([build.news(company)])
    assert lanes.take(second, 10, leave=60.0).woken == []

    Wakeup.objects.update(due_at=timezone.now() - timedelta(seconds=61))

    assert [each.is_new for each in lanes.take(second, 10, leave=60.0).woken] == [True]
    publishing.publish([build.news(company)])
    # Its own webhooks are handed over at once.
    assert [each.is_new for each in lanes.take(second, 10, leave=60.0).woken] == [False]


def test_woken_webhooks_come_with_their_addresses(company: Company, webhook: Webhook) -> None:
    """Return the addresses as before each claim, so that no claim uses outdated ones."""
    Webhook.objects.filter(pk=webhook.pk).update(
        max_in_flight=3, standard_headers=True, auth_token=encryption.encrypt("a token")
    )
    unread = build.webhook(company, url="")
    Wakeup.objects.create(webhook_id=unread.pk, due_at=timezone.now())
    Health.objects.create(webhook=webhook, failures=1, rests=1, catch_up_before=timezone.now())
    publishing.publish([build.news(company)])

    turn = lanes.take(loop_id(), 10)

    assert turn.addresses == rendering.addresses([webhook.pk, unread.pk])
    assert list(turn.addresses) == [webhook.pk]


def test_a_few_more_are_no_surplus(company: Company) -> None:
    first, _ = leases.join(2), leases.join(2)
    many_webhooks(company, 8)
    woken(first)

    assert sharing.surplus(first) == 0


def test_loop_of_an_earlier_version_is_given_nothing(company: Company) -> None:
    first, second = leases.join(2), leases.join(2)
    ids = many_webhooks(company, 24)
    woken(first)
    Loop.objects.filter(pk=second).update(takes_lanes=False)
    assert sharing.surplus(first) == 0

    sharing.transfer(first, ids)

    assert TakenLane.objects.count() == 0
    assert set(Wakeup.objects.values_list("webhook_id", flat=True)) == set(ids)


@pytest.mark.parametrize("end", ["leaves", "is lost"])
def test_webhooks_given_to_an_ended_loop_are_free(company: Company, end: str) -> None:
    first, second = leases.join(2), leases.join(2)
    ids = many_webhooks(company, 24)
    woken(first)
    sharing.transfer(first, ids[:12])

    if end == "leaves":
        leases.leave(second)
    else:
        Heartbeat.objects.filter(pk=second).update(
            lease_until=timezone.now() - timedelta(seconds=1)
        )
        leases.take_over()

    assert lanes_of(second) == set()
    assert set(ids[:12]) <= woken(first)


def test_a_worker_with_all_places_is_asked_for_one(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.getppid", lambda: 1)
    first, second, third = (str(leases.join(3)) for _ in range(3))
    monkeypatch.setattr("os.getppid", lambda: 2)

    assert [leases.join(3), leases.join(3)] == [None, None]

    yielding = [loop for loop in (first, second, third) if leases.renew(loop).yields]
    assert yielding == [third]
    leases.leave(third)
    joined = leases.join(3)
    assert joined is not None
    # Three places split into two and one are as even as they can be.
    assert leases.join(3) is None
    assert not any(leases.renew(loop).yields for loop in (first, second, joined))


def test_a_loop_that_is_asked_for_its_place_ends_and_frees_its_webhooks(
    company: Company, webhook: Webhook, loopback: Policy
) -> None:
    publishing.publish([build.news(company)])
    with closing(Transport(loopback, concurrency=SLOTS)) as transport:
        loop = engine(transport)
        loop.database.yields = True
        loop.run()

    assert not Loop.objects.exists()
    assert not TakenLane.objects.exists()
    assert woken() == {webhook.pk}


def test_finds_what_has_no_wakeup(company: Company) -> None:
    """Find rows that were changed in SQL and may lack one."""
    missed, later, awake, owned, paused = (build.webhook(company) for _ in range(5))
    publishing.publish([build.news(company)])
    Wakeup.objects.exclude(webhook_id=awake.pk).delete()
    Delivery.objects.update(due_at=timezone.now() - HOUR)
    Delivery.objects.filter(webhook=later).update(due_at=timezone.now() + HOUR)
    TakenLane.objects.create(webhook_id=owned.pk, loop_id=loop_id())
    services.pause(paused.pk, "for a test")

    assert lanes.find_missed(NEWEST, 100) == (NEWEST, 1)

    assert woken() == {missed.pk, awake.pk}


def test_looks_for_them_a_part_at_a_time(company: Company) -> None:
    webhooks = [build.webhook(company).pk for _ in range(5)]
    publishing.publish([build.news(company)])
    Wakeup.objects.all().delete()
    Delivery.objects.update(due_at=timezone.now() - HOUR)

    before, count = lanes.find_missed(NEWEST, 2)
    assert (before, count) == (webhooks[3], 2)
    before, count = lanes.find_missed(before, 2)
    assert (before, count) == (webhooks[1], 2)
    assert lanes.find_missed(before, 2) == (NEWEST, 1)


def test_search_skips_recently_delivered_rows(company: Company) -> None:
    """Skip its rows: their dead index entries cost 240 ms next to a backlog."""
    build.webhook(company)
    loop = leases.join(1)
    publishing.publish([build.news(company, number) for number in range(2, 1000)])
    woken(loop)
    statements.settle_plans(transaction_only=True)
    before = pages_read_to_find_missed()

    Delivery.objects.exclude(subject_id__gte=990).update(archived_on=timezone.now().date())

    assert pages_read_to_find_missed() < before + 5


def pages_read_to_find_missed() -> int:
    values = {"before": NEWEST, "most": 10, "grace": lanes.MISSED_AFTER_SECONDS}
    return pages_read(lanes.FIND_MISSED, values)


def test_wakeups_are_read_through_their_index(company: Company, webhook: Webhook) -> None:
    publishing.publish([build.news(company)])
    statements.settle_plans(transaction_only=True)
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {lanes.TAKE}", taking(loop_id()))
        plan = "\n".join(line for (line,) in cursor.fetchall())
        times = {"since": BEGINNING, "until": timezone.now()}
        cursor.execute(f"EXPLAIN {lanes.FIND_BEHIND}", times)
        looking_behind = "\n".join(line for (line,) in cursor.fetchall())

    assert "Index Only Scan using wakeup_due on deliveries_wakeup" in looking_behind
    assert "Index Scan using wakeup_due on deliveries_wakeup" in plan
    assert "Tid Scan on deliveries_wakeup" in plan


@pytest.mark.parametrize("statement", ["take", "find_missed", "oldest_due", "addresses"])
def test_webhook_is_looked_up_by_id_also_on_empty_tables(webhook: Webhook, statement: str) -> None:
    """Force the index: to a planner that knows of no rows any index looks as good."""
    values: dict[str, Any] = {
        "take": (lanes.TAKE, taking(loop_id())),
        "find_missed": (lanes.FIND_MISSED, {"before": NEWEST, "most": 10, "grace": 5.0}),
        "oldest_due": (backlog.OLDEST_DUE, {"woken": 10}),
        "addresses": (rendering.ADDRESSES, [[webhook.pk]]),
    }
    statements.settle_plans(transaction_only=True)
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {values[statement][0]}", values[statement][1])
        plan = "\n".join(line for (line,) in cursor.fetchall())

    assert "webhooks_webhook_pkey" in plan
    assert "webhook_listening" not in plan


def test_a_heartbeat_tells_of_silent_loops_and_of_wakeups(
    company: Company, webhook: Webhook
) -> None:
    first, second = leases.join(2), leases.join(2)
    assert leases.renew(first)[:2] == (False, False)

    Heartbeat.objects.filter(pk=second).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert leases.renew(first)[:2] == (True, False)

    publishing.publish([build.news(company)])
    assert leases.renew(first)[:2] == (True, True)
