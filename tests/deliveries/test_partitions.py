"""Weeks are created ahead, and rows that missed theirs are moved back."""

from datetime import UTC, date, datetime, timedelta
from io import StringIO
from pathlib import Path

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from companies.models import Company
from deliveries import jobs, publishing
from deliveries.engine import recording
from deliveries.models import Attempt, Delivery, Event, State
from deliveries.upkeep import partitions, rest_rows
from tests import builders as build
from tests.deliveries.test_recording import claim_one, result

ROOT = Path(__file__).resolve().parent.parent.parent
WEEK = timedelta(days=7)
NAMES = [table.name for table in partitions.TABLES if table.name.startswith("deliveries_")]


def ask(statement: str, *values: str) -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values or None)
        return cursor.fetchall() if cursor.description else []


def drop_all_weeks() -> None:
    """Drop them, as after an idle time so long that no partition covers today."""
    for name in NAMES:
        weeks = ask(
            "SELECT inhrelid::regclass::text FROM pg_inherits"
            " WHERE inhparent = %s::regclass AND inhrelid::regclass::text ~ '[0-9]$'",
            name,
        )
        for (week,) in weeks:
            ask(f"DROP TABLE {week}")


def rows_of(relation: str) -> int:
    return ask(f"SELECT count(*) FROM {relation}")[0][0]  # noqa: S608 - our names


def place_of(relation: str) -> list[tuple]:
    """Return the file that holds the table's rows."""
    return ask("SELECT pg_relation_filenode(%s::regclass)", relation)


def send(company: Company, count: int) -> None:
    """Send in vain, as failed attempts have rows of their own."""
    publishing.publish([build.news(company, n) for n in range(count)])
    for _ in range(count):
        recording.record_attempts([result(claim_one(), state=State.GIVEN_UP, status=500)])


def monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


@pytest.fixture
def fallen(company: Company) -> Company:
    """Create three deliveries, made and sent while there was no week for them."""
    build.webhook(company)
    drop_all_weeks()
    send(company, 3)
    assert [rows_of(f"{name}_rest") for name in NAMES] == [3, 3, 3]
    return company


def test_makes_weeks_ahead_and_once(db: None) -> None:
    drop_all_weeks()

    # This week and eight more, of three tables.
    assert partitions.make_partitions() == 27
    assert partitions.make_partitions() == 0

    assert [state[1:] for state in partitions.partition_states()] == [(8, False)] * 4
    assert partitions.partition_troubles() == []


def test_moves_out_what_fell_into_the_rest(fallen: Company) -> None:
    assert partitions.make_partitions() == 27

    assert [state[1:] for state in partitions.partition_states()] == [(8, False)] * 4
    this_week = f"{monday(timezone.now().date()):%Y%m%d}"
    assert [rows_of(f"{name}_{this_week}") for name in NAMES] == [3, 3, 3]
    assert Event.objects.count() == Delivery.objects.count() == Attempt.objects.count() == 3
    before = set(Event.objects.values_list("pk", flat=True))
    send(fallen, 1)
    assert Event.objects.count() == 4
    assert max(Event.objects.values_list("pk", flat=True)) > max(before)
    assert [rows_of(f"{name}_rest") for name in NAMES] == [0, 0, 0]


def test_many_rows_stay_where_they_are(fallen: Company, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest_rows, "MOST_MOVED", 2)
    places = {name: place_of(f"{name}_rest") for name in NAMES}
    indexes = {name: partition_indexes(f"{name}_rest") for name in NAMES}

    assert partitions.make_partitions() == 27

    this_week = f"{monday(timezone.now().date()):%Y%m%d}"
    for name in NAMES:
        week = f"{name}_{this_week}"
        assert place_of(week) == places[name]
        assert rows_of(week) == 3
        assert partition_indexes(week) == partition_indexes(f"{name}_rest") == indexes[name]
    assert partitions.partition_troubles() == []
    assert ask("SELECT FROM pg_constraint WHERE conname = 'only_these_weeks'") == []
    send(fallen, 1)
    assert Event.objects.count() == Delivery.objects.count() == Attempt.objects.count() == 4
    assert [rows_of(f"{name}_rest") for name in NAMES] == [0, 0, 0]


def partition_indexes(table: str) -> list[tuple]:
    """Return the indexed columns, whatever the indexes are called."""
    return ask(
        "SELECT substring(pg_get_indexdef(indexrelid) FROM 'USING.*') FROM pg_index"
        " WHERE indrelid = %s::regclass ORDER BY 1",
        table,
    )


def test_several_weeks_and_some_far_away(fallen: Company, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest_rows, "MOST_MOVED", 1)
    now = timezone.now()
    far = datetime(2090, 5, 3, 12, tzinfo=UTC)
    first, second, third = Event.objects.order_by("pk").values_list("pk", flat=True)
    Event.objects.filter(pk=first).update(created_at=now - 2 * WEEK)
    Event.objects.filter(pk=third).update(created_at=far)
    publishing.publish([build.news(fallen, 9)])

    partitions.make_partitions()

    events = partitions.TABLES[0]
    start, this_week = monday((now - 2 * WEEK).date()), monday(now.date())
    ranges = partitions.ranges_of(events)
    # Past weeks form one piece, named by its last week.
    assert ranges[0] == (start, this_week + WEEK)
    assert rows_of(f"deliveries_event_{this_week:%Y%m%d}") == 3
    assert ranges[-1] == (date(2090, 5, 1), date(2090, 5, 8))
    assert not partitions.partition_states()[0].has_rest
    assert second in Event.objects.values_list("pk", flat=True)


def test_failure_of_one_table_harms_no_other(db: None) -> None:
    drop_all_weeks()
    occupied = f"deliveries_event_{monday(timezone.now().date()):%Y%m%d}"
    ask(f"CREATE TABLE {occupied} (a text)")

    with pytest.raises(partitions.PartitionsNotMade, match=f"deliveries_event: .*{occupied}"):
        partitions.make_partitions()

    ahead = {state.table: state.weeks_ahead for state in partitions.partition_states()}
    assert ahead["deliveries_delivery"] == ahead["deliveries_attempt"] == 8
    ask(f"DROP TABLE {occupied}")
    partitions.make_partitions()
    assert partitions.partition_troubles() == []


def test_missing_partitions_are_reported(fallen: Company) -> None:
    assert partitions.partition_troubles() == [
        trouble
        for name in NAMES
        for trouble in (f"{name} has partitions for 0 weeks ahead", f"{name}_rest has rows")
    ]


def test_migrate_makes_them(db: None) -> None:
    drop_all_weeks()

    call_command("migrate", stdout=StringIO())

    assert [state.weeks_ahead for state in partitions.partition_states()] == [8] * 4


def test_a_long_reader_is_not_queued_behind(rows_to_keep: None, company: Company) -> None:
    """Give up a lock that is not granted in time, and change nothing."""
    server = connection.settings_dict
    with psycopg.connect(
        host=server["HOST"], user=server["USER"], dbname=server["NAME"], port=server["PORT"] or 5432
    ) as reader:
        far = date(2090, 5, 1)
        reader.execute("SELECT count(*) FROM deliveries_event_rest")
        events = partitions.TABLES[0]

        with pytest.raises(rest_rows.OperationalError, match="lock timeout"):
            rest_rows.make_week(events, far)

        assert not partitions.is_covered(far, partitions.ranges_of(events))
        reader.rollback()
        rest_rows.make_week(events, far)
    ask("DROP TABLE deliveries_event_20900501")


def test_an_interrupted_move_leaves_no_check_behind(fallen: Company) -> None:
    events = partitions.TABLES[0]
    ask(events.fill(rest_rows.CHECK, date(2000, 1, 3), date(2090, 5, 8)))

    jobs.make_partitions()

    assert ask("SELECT FROM pg_constraint WHERE conname = 'only_these_weeks'") == []
    assert partitions.partition_troubles() == []
