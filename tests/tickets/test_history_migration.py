"""Entries of every form that earlier versions wrote become codes and facts, and back again."""

from datetime import UTC, datetime
from importlib import import_module
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from django.apps import apps
from django.db import connection, transaction
from django.db.utils import DatabaseError

from config.management.commands import migrate
from desk.ticket import history_words
from tests import builders as build
from tickets.models import HistoryEntry

pytestmark = pytest.mark.django_db(transaction=True)
AT = datetime(2026, 3, 4, 12, tzinfo=UTC)
DIFF = {"added": {"box": 1.50}, "removed": {}, "changed": {"cups": [6, None]}}
BEN = {"agent": [None, "ben"], "loads": {"ben": [0, 5], "cat": [5, 5]}}
HAND = {"agent": ["ada", "ben"], "loads": {"ben": [4, 5]}}
OVER = {"agent": [None, "b.e+n@x"], "loads": {"b.e+n@x": [7, 5]}}
# What a lead may have written.
REASONS = ("", "Away.", ": why: not\nat all", ", beyond their capacity (7 of 5)", "100 %")
HELD_BACK = "Held back from Follow up: what came with it says nothing new."


class Old(NamedTuple):
    """An entry as an earlier version wrote it."""

    by: str
    reason: str
    changes: dict[str, Any]
    was: int | None = 6
    now: int = 6
    public: bool = False


class New(NamedTuple):
    kind: str
    reason: str
    data: dict[str, Any]


def given(old: dict[str, Any], said: str, reason: str, rule: str = "lead_choice") -> Any:
    """A lead's act, with the reason that must not be lost."""
    written = f"{said}: {reason}" if reason else said
    return Old("lead", written, old), New("reassigned", reason, {**old, "rule": rule})


FORMS = [
    (Old("company", "", {}, was=None, public=True), New("opened", "", {})),
    (
        Old("company", "", {"data": DIFF}, was=4, now=5, public=True),
        New("moved", "", {"variables": DIFF}),
    ),
    (
        Old("agent", "Send it.", {"requested": ["Photo"]}, now=4, public=True),
        New("moved", "Send it.", {"requested": ["Photo"]}),
    ),
    # An agent may write what they like, also what reads like the code's own words.
    *(
        (Old("agent", words, {}, now=3, public=True), New("moved", words, {}))
        for words in ("taken by ada: chosen by hand", "The status stays.", HELD_BACK)
    ),
    (
        Old("system", "assigned to ben: the least loaded", BEN),
        New("assigned", "", {**BEN, "rule": "least_busy"}),
    ),
    *(
        (
            Old("system", f"left unassigned: {words}", {"loads": {"ada": [1, 1]}}),
            New("unassigned", "", {"loads": {"ada": [1, 1]}, "why": why}),
        )
        for why, words in (
            ("nobody_available", "nobody who takes this type is available"),
            ("all_at_capacity", "everybody who takes this type has enough"),
            ("lock_timeout", "the agents were busy being assigned"),
        )
    ),
    *(
        (
            Old(by, f"taken by ben: {words}", BEN),
            New("taken", "", {**BEN, "rule": rule}),
        )
        for by, rule, words in (
            ("agent", "most_urgent", "the most urgent that nobody had"),
            ("lead", "agent_choice", "chosen by hand"),
        )
    ),
    *(
        given(old, said, reason, rule)
        for reason in REASONS
        for old, said, rule in (
            (HAND, "given to ben by hand", "lead_choice"),
            (
                OVER,
                "given to b.e+n@x by hand, beyond their capacity (7 of 5)",
                "lead_choice",
            ),
            ({"agent": ["ada", None]}, "given to whom the rule finds by hand", "least_busy"),
            ({"agent": [None, None]}, "given to whom the rule finds by hand", "least_busy"),
        )
    ),
    (
        Old("agent", "asked for documents", {"requested": ["Photo", "Invoice"]}),
        New("documents_requested", "", {"requested": ["Photo", "Invoice"]}),
    ),
    (
        Old("agent", "", {"evidence": {"sha256": "5e5e"}}),
        New("evidence_taken", "", {"sha256": "5e5e"}),
    ),
    (
        Old("company", "The status stays.", {"data": DIFF}, was=1, now=1),
        New("data_changed", "", {"variables": DIFF}),
    ),
    (
        Old("company", HELD_BACK, {"data": DIFF}),
        New("move_refused", "", {"variables": DIFF, "to": 5, "why": "nothing_new"}),
    ),
    (Old("company", HELD_BACK, {}), New("move_refused", "", {"to": 5, "why": "nothing_new"})),
    *(
        (
            Old(
                "company",
                f"Follow up was asked for and cannot follow {label}: the status stays.",
                {},
                was=status,
                now=status,
            ),
            New("move_refused", "", {"to": 5, "why": "not_allowed"}),
        )
        for status, label in ((1, "Pending"), (10, "Claim in review"))
    ),
]
# What nobody has foreseen keeps its words.
UNKNOWN = [
    Old("system", "assigned", {}),
    Old("system", "assigned to cat: the least loaded", BEN),
    Old("agent", "assigned to ben: the least loaded", BEN),
    Old("lead", "given to cat by hand: Away.", HAND),
    Old("lead", "given to ben by hand, beyond their capacity (7 of 5)", HAND),
    Old("lead", "given to ben by hand. Away.", HAND),
    Old("system", "left unassigned: it rains", {}),
    Old("company", "Follow up was asked for and cannot follow Pending: the status stays.", {}),
    Old("agent", "asked for documents", {}),
    Old("agent", "", {"evidence": "a photo"}),
    Old("agent", "", {}),
]
OLD = [*(old for old, _ in FORMS), *UNKNOWN]
NEW = [*(new for _, new in FORMS), *(New("other", one.reason, one.changes) for one in UNKNOWN)]

COLUMNS = "ticket_id, by, actor, was, now, reason, changes, public, created_at"


# Only rows change between the two: today's table also holds what the version before wrote.
# tests/upgrades/ runs the migrations themselves, from a table without the new column.
MIGRATION = import_module("tickets.migrations.0003_history_in_codes")


def translate() -> None:
    MIGRATION.translate(apps, connection.schema_editor())


def restore() -> None:
    MIGRATION.restore(apps, connection.schema_editor())


def insert(rows: list[Old]) -> None:
    """As a process of an earlier version does: without a kind."""
    ticket = build.ticket(build.company())
    places = ", ".join(["%s"] * len(COLUMNS.split(", ")))
    with connection.cursor() as cursor:
        for row in rows:
            cursor.execute(
                f"INSERT INTO tickets_historyentry ({COLUMNS}) VALUES ({places})",  # noqa: S608
                [
                    ticket.pk,
                    row.by,
                    "eve",
                    row.was,
                    row.now,
                    row.reason,
                    connection.ops.adapt_json_value(row.changes, None),
                    row.public,
                    AT,
                ],
            )


def stored(columns: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {columns} FROM tickets_historyentry ORDER BY id")  # noqa: S608
        return cursor.fetchall()


def assert_append_only() -> None:
    for statement in (
        "UPDATE tickets_historyentry SET reason = reason",
        "DELETE FROM tickets_historyentry",
    ):
        with (
            pytest.raises(DatabaseError, match="append-only"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(statement)


@pytest.mark.parametrize("batch", [7, 10_000])
def test_translates_every_old_form_and_back(monkeypatch: pytest.MonkeyPatch, batch: int) -> None:
    monkeypatch.setattr(MIGRATION, "BATCH", batch)
    insert(OLD)
    before = stored(f"id, {COLUMNS}")

    translate()

    entries = list(HistoryEntry.objects.order_by("pk"))
    assert [New(one.kind, one.reason, one.data) for one in entries] == NEW
    assert [(one.was, one.now, one.by, one.public) for one in entries] == [
        (one.was, one.now, one.by, one.public) for one in OLD
    ]
    assert_append_only()

    restore()

    assert stored(f"id, {COLUMNS}") == before


def test_reads_as_the_desk_says_it() -> None:
    wanted = {
        "assigned to ben: the least loaded": "Assigned automatically to ben (least busy).",
        "taken by ben: chosen by hand": "ben chose the ticket and took it.",
        "given to ben by hand: Away.": "eve reassigned it from ada to ben.",
        "left unassigned: it rains": "left unassigned: it rains",
    }
    insert([old for old, _ in FORMS if not old.public and old.reason in wanted] + UNKNOWN[6:7])
    before = dict(stored("id, reason"))

    translate()

    said = {before[entry.pk]: history_words.sentence(entry) for entry in HistoryEntry.objects.all()}
    assert said == wanted


def test_a_process_of_the_version_before_can_still_write() -> None:
    translate()

    insert(OLD)

    assert set(HistoryEntry.objects.values_list("kind", flat=True)) == {"other"}
    for entry, old in zip(HistoryEntry.objects.order_by("pk"), OLD, strict=True):
        line = history_words.line(entry)
        assert old.reason in (line.reason, line.sentence)


def test_goes_on_where_it_was_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MIGRATION, "BATCH", 5)
    insert(OLD)
    twelfth = stored("id")[11][0]
    broken = [(f"kind = CASE WHEN id = {twelfth} THEN repeat('x', 99) ELSE kind END", "true")]
    with monkeypatch.context() as patched:
        patched.setattr(MIGRATION, "TRANSLATE", [*broken, *MIGRATION.TRANSLATE])
        with pytest.raises(DatabaseError):
            translate()
    assert HistoryEntry.objects.exclude(kind="other").count() == 10
    assert_append_only()
    translate()

    rows = HistoryEntry.objects.order_by("pk").values_list("kind", "reason", "data")
    assert [New(*row) for row in rows] == NEW


def test_tries_a_batch_again_that_finds_the_table_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    insert(OLD)
    other = connection.copy()
    other.set_autocommit(False)
    with other.cursor() as cursor:
        cursor.execute("LOCK TABLE tickets_historyentry IN ROW EXCLUSIVE MODE")
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        other.rollback()

    monkeypatch.setattr(MIGRATION, "time", SimpleNamespace(sleep=pause))
    with migrate.brief_waits(connection):
        translate()
    other.close()

    assert pauses == [0.1]
    rows = HistoryEntry.objects.order_by("pk").values_list("kind", "reason", "data")
    assert [New(*row) for row in rows] == NEW


def test_changes_nothing_that_this_version_wrote() -> None:
    ticket = build.ticket(build.company())
    for reason, data in (("The status stays.", {"variables": DIFF}), ("Why.", {"data": 1})):
        HistoryEntry.objects.create(
            ticket=ticket,
            by="lead",
            now=6,
            kind="reassigned",
            reason=reason,
            data=data,
            public=False,
            created_at=AT,
        )
    before = stored("*")

    translate()

    assert stored("*") == before
