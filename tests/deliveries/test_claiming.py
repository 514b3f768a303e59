"""Claims take due deliveries, fairly, in order, and from no other loop."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from uuid import uuid4

import pytest
from django.db import connection
from django.utils import timezone

from companies.models import Company
from deliveries import publishing, statements
from deliveries.engine import claiming
from deliveries.engine.fronts import BEGINNING
from deliveries.models import Delivery, Event, Health, Loop
from tests import builders as build
from tests.sending import claim, loop_id
from webhooks import services


def publish(company: Company, *shipments: int | None) -> None:
    publishing.publish([build.news(company, shipment_id) for shipment_id in shipments])


def test_takes_what_is_due_oldest_first(company: Company) -> None:
    build.webhook(company)
    publish(company, *range(5))

    assert [each.subject_id for each in claim(room=3)] == [0, 1, 2]
    assert [each.subject_id for each in claim(room=3)] == [3, 4]
    assert claim() == []


def test_takes_first_attempts_before_retries_and_one_retry_in_any_case(company: Company) -> None:
    build.webhook(company)
    publish(company, *range(6))
    hour_ago = timezone.now() - timedelta(hours=1)
    Delivery.objects.filter(subject_id__lt=3).update(step=1, due_at=hour_ago)

    assert [each.subject_id for each in claim(room=2)] == [0, 3, 4]
    assert [each.subject_id for each in claim(room=5)] == [1, 2, 5]


def test_leaves_what_is_not_due(company: Company) -> None:
    build.webhook(company)
    publish(company, 1)
    Delivery.objects.update(due_at=timezone.now() + timedelta(seconds=60))

    assert claim() == []


@pytest.mark.parametrize("step", [0, 3])
def test_takes_what_a_lost_loop_held_at_once(company: Company, step: int) -> None:
    build.webhook(company)
    publish(company, 1)
    Delivery.objects.update(step=step)
    first = claim()
    assert claim() == []

    Loop.objects.update(lost=True)

    again = claim()
    assert [each.id for each in again] == [each.id for each in first]
    assert again[0].claim != first[0].claim


def test_gives_back_only_what_it_still_holds(company: Company) -> None:
    build.webhook(company)
    publish(company, 1)
    late = claim()
    Loop.objects.update(lost=True)
    (present,) = claim()

    claiming.give_back(late)
    assert str(Delivery.objects.get().claimed_by) == present.claim

    claiming.give_back([present])
    assert Delivery.objects.get().claimed_by is None


def test_a_lost_loop_claims_nothing(company: Company) -> None:
    webhook = build.webhook(company)
    publish(company, 1)
    lost = loop_id()
    Loop.objects.update(lost=True)

    assert claiming.claim(lost, {webhook.pk: 10}) == ([], set(), set(), {})


def test_a_claim_of_an_earlier_version_ends_with_its_own_time(company: Company) -> None:
    build.webhook(company)
    publish(company, 1)
    later = timezone.now() + timedelta(seconds=30)
    Delivery.objects.update(claimed_by=uuid4(), claimed_until=later)
    assert claim() == []

    Delivery.objects.update(claimed_until=timezone.now() - timedelta(seconds=1))

    assert len(claim()) == 1


def test_claim_names_webhooks_that_may_have_more(company: Company) -> None:
    many, few = build.webhook(company), build.webhook(company, type_id=4)
    publish(company, *range(5))
    publishing.publish([build.news(company, type=4)])

    claims = claiming.claim(loop_id(), {many.pk: 5, few.pk: 5})

    assert (len(claims.claimed), claims.more) == (6, {many.pk})


def test_claim_names_webhooks_whose_deliveries_all_wait(company: Company) -> None:
    webhook = build.webhook(company)
    publish(company, *[1] * 4)
    claim(room=1)

    claims = claiming.claim(loop_id(), {webhook.pk: 2})

    assert (claims.claimed, claims.more) == ([], {webhook.pk})


def test_takes_one_of_a_shipment_at_a_time(company: Company) -> None:
    build.webhook(company)
    publish(company, 1, 2, 1, 1, 2)

    claimed = claim()

    assert sorted(each.subject_id for each in claimed) == [1, 2]
    assert {each.id for each in claimed} == {
        str(Delivery.objects.filter(subject_id=shipment).order_by("event_id")[0].pk)
        for shipment in (1, 2)
    }


def test_parks_the_rest_of_a_shipment_so_that_others_pass(company: Company) -> None:
    build.webhook(company)
    publish(company, *[1] * 10, 2)

    claim(room=10)

    assert [each.subject_id for each in claim(room=10)] == [2]


def test_holds_a_shipment_back_behind_a_failing_delivery_for_an_hour(company: Company) -> None:
    build.webhook(company)
    publish(company, 1, 1)
    head = Delivery.objects.order_by("event_id")[0]
    later = timezone.now() + timedelta(hours=5)
    Delivery.objects.filter(pk=head.pk).update(due_at=later, first_attempt_at=timezone.now())

    assert claim() == []

    hour_ago = timezone.now() - timedelta(hours=1, seconds=1)
    Delivery.objects.filter(pk=head.pk).update(first_attempt_at=hour_ago)
    Delivery.objects.exclude(pk=head.pk).update(due_at=timezone.now())

    assert [each.id for each in claim()] == [
        str(delivery.pk) for delivery in Delivery.objects.exclude(pk=head.pk)
    ]


def test_a_ticket_does_not_wait_for_a_shipment_of_its_number(company: Company) -> None:
    build.webhook(company)
    publishing.publish([build.news(company, 7), build.news(company, 7, ticket_id=7)])
    publishing.publish([build.news(company, 7), build.news(company, 7, ticket_id=7)])

    first = Event.objects.order_by("id").values_list("id", flat=True)[:2]
    assert [each.event_id for each in claim()] == list(first)


def test_does_not_order_what_belongs_to_no_shipment(company: Company) -> None:
    build.webhook(company)
    publish(company, None, None)

    assert len(claim()) == 2


def test_the_same_shipment_flows_to_two_webhooks_apart(company: Company) -> None:
    build.webhook(company)
    build.webhook(company)
    publish(company, 1)

    assert len(claim()) == 2


def test_skips_webhooks_that_are_paused_deleted_or_resting(company: Company) -> None:
    paused, deleted, resting, well = (build.webhook(company) for _ in range(4))
    publish(company, 1)
    services.pause(paused.pk, "for a test")
    services.delete_webhook(company, deleted.pk)
    Health.objects.create(
        webhook=resting, failures=5, resting_until=timezone.now() + timedelta(seconds=60)
    )

    assert [each.webhook_id for each in claim()] == [well.pk]


def test_a_long_backlog_of_one_leaves_room_for_another(company: Company, birch: Company) -> None:
    build.webhook(company)
    build.webhook(birch)
    publish(company, *range(500))
    publish(birch, 1)

    counts = Counter(each.webhook_id for each in claim(room=10))

    assert counts == {company.webhooks.get().pk: 10, birch.webhooks.get().pk: 1}


@pytest.mark.django_db(transaction=True)
def test_never_hands_a_delivery_to_two(rows_to_keep: None) -> None:
    company = build.company()
    build.webhook(company)
    publish(company, *range(400))
    # The one loop of all eight threads.
    loop_id()
    barrier = Barrier(8)

    def worker(_: int) -> list:
        barrier.wait()
        try:
            claimed_ids = []
            while batch := claim(room=7):
                claimed_ids += [each.id for each in batch]
            return claimed_ids
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        claimed_ids = [id for ids in pool.map(worker, range(8)) for id in ids]

    assert len(claimed_ids) == len(set(claimed_ids)) == 400


def test_reads_no_more_when_the_planner_believes_the_queue_empty(company: Company) -> None:
    webhook = build.webhook(company)
    publish(company, *range(500))
    Delivery.objects.update(archived_on=timezone.now().date())
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE deliveries_delivery_open")
    publish(company, *range(500))
    statements.settle_plans(transaction_only=True)
    values = claiming.parameters(str(uuid4()), {webhook.pk: 20})
    loans = [uuid4() for _ in range(20)]

    with statements.cursor() as cursor:
        cursor.execute(f"EXPLAIN {claiming.CLAIM}", values)
        plan = "\n".join(line for (line,) in cursor.fetchall())
        cursor.execute(f"EXPLAIN {claiming.GIVE_BACK}", {"ids": loans, "claims": loans})
        giving_back = "\n".join(line for (line,) in cursor.fetchall())
        times = {"since": BEGINNING, "until": timezone.now()}
        cursor.execute(f"EXPLAIN {claiming.FIND_BEHIND}", {"webhook": webhook.pk, **times})
        looking_behind = "\n".join(line for (line,) in cursor.fetchall())

    assert "Index Scan using delivery_due" in looking_behind
    assert "Sort" not in looking_behind
    assert "Index Cond: (id = ANY" in giving_back, giving_back
    assert "Index Scan using delivery_due" in plan
    assert "Index Scan using delivery_order" in plan
    assert "Bitmap" not in plan
    assert "Seq Scan on deliveries_delivery_open" not in plan


def test_claim_statement_is_planned_once(company: Company, rows_to_keep: None) -> None:
    build.webhook(company)
    statements.settle_plans()
    for shipment in range(3):
        publish(company, shipment)
        claim()

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT generic_plans, custom_plans FROM pg_prepared_statements"
            " WHERE statement LIKE '%FOR UPDATE SKIP LOCKED%'"
        )
        assert cursor.fetchall() == [(3, 0)]
    connection.close()
