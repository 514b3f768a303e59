"""Tracking updates are dropped by whole weeks, except those that somebody still needs."""

from datetime import date, datetime, timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from companies.models import Company
from deliveries.upkeep import partitions, rest_rows
from deliveries.upkeep.pruning import Pruned, PruneRun
from deliveries.upkeep.rest_rows import Partitioned
from shipments import pruning
from shipments.models import Incidence, Shipment, TrackingUpdate
from tests.shipments.feeding import ingest, shipment, tracking, write

TABLE = Partitioned("shipments_trackingupdate", "day", "date")
THIS_WEEK = partitions.coming_weeks()[0]
# Updates older than five weeks go: two weeks, and the days of a third that are old enough.
OLD, OLDER, YOUNG = (THIS_WEEK - timedelta(weeks=weeks) for weeks in (6, 7, 5))
BEFORE = datetime.fromisoformat(f"{YOUNG + timedelta(days=3)}T15:00:00+00:00")


@pytest.fixture
def weeks(company: Company) -> Company:
    for week in (OLDER, OLD, YOUNG):
        rest_rows.make_week(TABLE, week)
    return company


def told_of(company: Company, shipment_id: int, *days: date) -> None:
    Shipment.objects.create(
        pk=shipment_id,
        company=company,
        tracking_number=f"T{shipment_id}",
        carrier_name="acme",
        created_at=timezone.now(),
    )
    TrackingUpdate.objects.bulk_create(
        TrackingUpdate(
            shipment_id=shipment_id,
            digest=bytes([number]),
            status="x",
            occurred_at=timezone.now(),
            day=day,
        )
        for number, day in enumerate(days)
    )


def prune(lines: list[str], *, dry_run: bool = False, only_weeks: bool = True) -> Pruned:
    output = PruneRun(lines.append, lambda text: None, dry_run)
    # Any rows that name shipments.
    needed = Incidence.objects.all()
    return pruning.prune_updates(BEFORE, output, needed=needed, only_weeks=only_weeks)


def remaining_updates() -> list[tuple[int, int, date]]:
    updates = TrackingUpdate.objects.order_by("shipment_id", "digest")
    return [(each.shipment_id, each.digest[0], each.day) for each in updates]


def test_what_is_needed_moves_before_its_week_is_dropped(
    weeks: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pruning, "PAGES", 1)
    # More than a page, so that some shipments appear twice.
    for number in range(100, 300):
        told_of(weeks, number, OLDER, OLD)
    told_of(weeks, 1, OLDER, YOUNG)
    today = timezone.now().date()
    told_of(weeks, 2, OLDER, OLD, today)
    told_of(weeks, 3, OLD)
    Incidence.objects.create(pk=1, shipment_id=3, created_at=timezone.now())
    told_of(weeks, 4, YOUNG + timedelta(days=2))
    rehearsed: list[str] = []
    lines: list[str] = []

    assert prune(rehearsed, dry_run=True).kept_weeks == ()
    assert len(remaining_updates()) == 407
    assert prune(lines).kept_weeks == ()

    assert rehearsed[0] == "would keep 3 old tracking updates that are still needed"
    assert lines[0] == "kept 3 old tracking updates that are still needed"
    assert [line.partition(",")[0] for line in lines[1:]] == [
        f"dropped shipments_trackingupdate_{week:%Y%m%d}" for week in (OLDER, OLD)
    ]
    assert remaining_updates() == [
        # Nothing newer than that day is known of it.
        (1, 1, YOUNG),
        (2, 0, today),
        (2, 1, today),
        (2, 2, today),
        (3, 0, today),
        (4, 0, YOUNG + timedelta(days=2)),
    ]
    lines.clear()
    prune(lines)
    assert lines == []


def test_to_the_day_goes_part_of_a_week(weeks: Company) -> None:
    told_of(weeks, 1, OLD, YOUNG, YOUNG + timedelta(days=2))
    told_of(weeks, 2, OLD, YOUNG + timedelta(days=3))
    lines: list[str] = []

    prune(lines, only_weeks=False)

    assert f"deleted 2 rows of shipments_trackingupdate_{YOUNG:%Y%m%d}" in lines
    assert [shipment_id for shipment_id, _, _ in remaining_updates()] == [2, 2]


def test_a_line_that_was_told_in_another_week_is_known(weeks: Company, tmp_path: Path) -> None:
    lines = [shipment(7, weeks.pk), tracking(7, "Lost", occurred_at="2026-01-01T10:00:00Z")]
    ingest(write(tmp_path / "first.jsonl", *lines))
    TrackingUpdate.objects.update(day=OLD)

    again = ingest(write(tmp_path / "again.jsonl", *lines))

    assert again.counts["known"] == 2
    assert again.counts["changed"] == 0
    assert [day for _, _, day in remaining_updates()] == [OLD]
