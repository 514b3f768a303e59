"""No migration disturbs the previous version, which keeps working while it runs."""

from typing import Any

import pytest
from django.contrib.postgres.operations import (
    AddConstraintNotValid,
    AddIndexConcurrently,
    RemoveIndexConcurrently,
    ValidateConstraint,
)
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState
from django.db.models.functions import Now
from pytest_django import Settings

from core.data.migration_steps import LockLast
from tests.upgrades.rules import Reader

APPS = ("core", "companies", "webhooks", "deliveries", "shipments", "tickets", "portal", "desk")
# Nobody is at work on a database before these.
FIRST = {"0001_initial", "0002_functions"}


def test_no_migration_disturbs_the_version_before() -> None:
    loader, reader = MigrationLoader(None), Reader()
    state = ProjectState(real_apps=loader.unmigrated_apps)
    problems: list[str] = []
    for migration in in_order(loader):
        if migration.app_label in APPS and migration.name not in FIRST:
            problems += reader.problems(migration, state)
        migration.mutate_state(state, preserve=False)

    assert problems == []


def in_order(loader: MigrationLoader) -> list[migrations.Migration]:
    """Return all migrations, each after those that it depends on."""
    by_name = {
        key: loader.graph.nodes[key]
        for leaf in loader.graph.leaf_nodes()
        for key in loader.graph.forwards_plan(leaf)
    }
    return list(by_name.values())


# Sample migrations follow, on a ticket, which is hot, and a macro, which is not.


def before() -> ProjectState:
    state = ProjectState()
    identity = ("id", models.BigAutoField(primary_key=True))
    macro = migrations.CreateModel("Macro", [identity, ("name", models.CharField(max_length=80))])
    macro.state_forwards("desk", state)
    ticket = migrations.CreateModel(
        "Ticket",
        [
            identity,
            ("status", models.SmallIntegerField(choices=[(1, "Pending")])),
            ("carrier", models.CharField(max_length=100)),
            ("note", models.TextField(null=True)),
        ],
        {"indexes": [models.Index(fields=["carrier"], name="ticket_carrier")]},
    )
    ticket.state_forwards("tickets", state)
    return state


def migration(
    *operations: Operation, app: str = "tickets", atomic: bool = True, **attributes: Any
) -> migrations.Migration:
    values = {"operations": list(operations), "atomic": atomic, **attributes}
    return type("Migration", (migrations.Migration,), values)("0002_made_up", app)


def problems(*made_up: migrations.Migration) -> list[str]:
    """Return the problems of the last one, after the others."""
    reader, state = Reader(), before()
    for one in made_up:
        last_problems = reader.problems(one, state)
        one.mutate_state(state, preserve=False)
    return last_problems


def sql(text: str) -> migrations.RunSQL:
    return migrations.RunSQL(text)


def add(field: models.Field, name: str = "extra") -> migrations.AddField:
    return migrations.AddField("ticket", name, field)


def alter(name: str, field: models.Field) -> migrations.AlterField:
    return migrations.AlterField("ticket", name, field)


NO_TIMEOUT = sql("SET statement_timeout = 0")
INDEX = models.Index(fields=["status"], name="ticket_status")
UNIQUE = models.UniqueConstraint(fields=["carrier"], name="one_of_each")
CHECK = models.CheckConstraint(condition=models.Q(status__gt=0), name="status_is_positive")
HAS_NOTE = models.CheckConstraint(condition=models.Q(note__isnull=False), name="has_note")
NEW_TABLE = migrations.CreateModel(
    "Label",
    [
        ("id", models.BigAutoField(primary_key=True)),
        ("name", models.CharField(max_length=50, unique=True)),
        ("ticket", models.ForeignKey("tickets.Ticket", models.CASCADE)),
    ],
    {"indexes": [models.Index(fields=["name"], name="label_name")], "constraints": []},
)
FREE_TABLE = migrations.CreateModel("Note", [("id", models.BigAutoField(primary_key=True))])
BATCH = "UPDATE tickets_ticket SET carrier = '' WHERE id BETWEEN %s AND %s"


def fill_in_batches(apps: Any, schema_editor: Any) -> None:
    with schema_editor.connection.cursor() as cursor:
        while next_batch(cursor):
            pass


def next_batch(cursor: Any) -> bool:
    cursor.execute(BATCH, [1, 1000])
    return bool(cursor.rowcount)


def fill_at_once(apps: Any, schema_editor: Any) -> None:
    apps.get_model("tickets", "Ticket").objects.update(carrier="")


def fill_macros(apps: Any, schema_editor: Any) -> None:
    apps.get_model("desk", "Macro").objects.update(name="")


def fill_something(apps: Any, schema_editor: Any) -> None:
    schema_editor.connection.do_whatever()


MAY = {
    "a column that may be null": migration(add(models.TextField(null=True))),
    "a column with a default in the database": migration(
        add(models.SmallIntegerField(db_default=0)),
        add(models.DateTimeField(db_default=Now()), "at"),
    ),
    "choices alone": migration(
        alter("status", models.SmallIntegerField(choices=[(1, "Pending"), (7, "On hold")]))
    ),
    "a longer text": migration(alter("carrier", models.CharField(max_length=200))),
    "a text of any length": migration(alter("carrier", models.TextField())),
    "null where it was not allowed": migration(
        alter("carrier", models.CharField(max_length=100, null=True))
    ),
    "options": migration(migrations.AlterModelOptions("ticket", {"ordering": ["id"]})),
    "an index, concurrently": migration(
        NO_TIMEOUT, AddIndexConcurrently("ticket", INDEX), atomic=False
    ),
    "no more index, concurrently": migration(
        RemoveIndexConcurrently("ticket", "ticket_carrier"), atomic=False
    ),
    "an index of what is partitioned": migration(
        sql("CREATE INDEX late ON ONLY deliveries_event (type_id)"), app="deliveries"
    ),
    "an index of a small table": migration(
        migrations.AddIndex("macro", models.Index(fields=["name"], name="macro_name")), app="desk"
    ),
    "a new table": migration(
        NEW_TABLE,
        migrations.AddIndex("label", models.Index(fields=["name"], name="again")),
        LockLast("tickets_ticket", operations=[add(models.TextField(null=True))]),
    ),
    "a constraint, not valid": migration(AddConstraintNotValid("ticket", CHECK)),
    "a unique constraint on an index that is there": migration(
        sql("ALTER TABLE tickets_ticket ADD CONSTRAINT one UNIQUE USING INDEX one_index")
    ),
    "batches": migration(migrations.RunPython(fill_in_batches), atomic=False),
    "a small table at once": migration(migrations.RunPython(fill_macros)),
    "a small table by SQL": migration(sql("UPDATE desk_macro SET name = ''")),
    "nothing": migration(migrations.RunPython(migrations.RunPython.noop)),
    "a trigger that updates": migration(
        sql(
            "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            " UPDATE tickets_ticket SET carrier = ''; RETURN NEW; END $$;"
            "CREATE TRIGGER t BEFORE UPDATE ON tickets_ticket FOR EACH ROW EXECUTE FUNCTION f()"
        )
    ),
    "a column that only the code forgets": migration(
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.RemoveField("ticket", "carrier")]
        )
    ),
    "a column that nobody reads any more": migration(
        migrations.RemoveField("ticket", "carrier"),
        unread_since={"tickets_ticket.carrier": "0"},
    ),
    "a table of its own that goes": migration(NEW_TABLE, migrations.DeleteModel("Label")),
}
MAY_NOT = {
    "a default in Python alone": (
        migration(add(models.SmallIntegerField(default=0))),
        "tickets_ticket.extra has no default in the database",
    ),
    "the same in a small table": (
        migration(
            migrations.AddField("macro", "extra", models.IntegerField(default=0)), app="desk"
        ),
        "desk_macro.extra has no default in the database",
    ),
    "no default at all": (
        migration(sql("ALTER TABLE tickets_ticket ADD COLUMN extra int NOT NULL, ADD b int")),
        "tickets_ticket.extra is neither nullable",
    ),
    "a default for each row": (
        migration(sql("ALTER TABLE tickets_ticket ADD extra uuid DEFAULT gen_random_uuid()")),
        "the default of extra may differ",
    ),
    "a generated column": (
        migration(sql("ALTER TABLE tickets_ticket ADD n int GENERATED ALWAYS AS (id + 1) STORED")),
        "n is generated",
    ),
    "a unique column": (
        migration(add(models.TextField(null=True, unique=True))),
        "the index of tickets_ticket.extra is built under a lock",
    ),
    "a new table while a hot one is locked": (
        migration(add(models.TextField(null=True)), FREE_TABLE),
        "tickets_ticket is locked while other things are done",
    ),
    "a foreign key before indexes": (migration(NEW_TABLE), "tickets_ticket is locked while"),
    "an index": (migration(migrations.AddIndex("ticket", INDEX)), "without CONCURRENTLY"),
    "the index of a foreign key": (
        migration(add(models.ForeignKey("tickets.Ticket", models.CASCADE, null=True))),
        "an index on tickets_ticket is built without CONCURRENTLY",
    ),
    "an index in a transaction": (
        migration(NO_TIMEOUT, sql("CREATE INDEX CONCURRENTLY late ON tickets_ticket (carrier)")),
        "CONCURRENTLY needs atomic = False",
    ),
    "an index that runs into the timeout": (
        migration(AddIndexConcurrently("ticket", INDEX), atomic=False),
        "SET statement_timeout = 0 before it",
    ),
    "no more index": (
        migration(migrations.RemoveIndex("ticket", "ticket_carrier")),
        "index ticket_carrier is dropped without CONCURRENTLY",
    ),
    "no more index that nobody knows": (
        migration(sql("DROP INDEX IF EXISTS event_tracking")),
        "index event_tracking is dropped without CONCURRENTLY",
    ),
    "a constraint": (
        migration(migrations.AddConstraint("ticket", CHECK)),
        "constraint status_is_positive is not NOT VALID",
    ),
    "a constraint without a name": (
        migration(sql("ALTER TABLE tickets_ticket ADD CHECK (status > 0)")),
        "constraint (no name) is not NOT VALID",
    ),
    "a unique constraint": (
        migration(migrations.AddConstraint("ticket", UNIQUE)),
        "constraint one_of_each builds its index under a lock",
    ),
    "a constraint that is validated at once": (
        migration(AddConstraintNotValid("ticket", CHECK), ValidateConstraint("ticket", CHECK.name)),
        "status_is_positive is validated under the lock",
    ),
    "another type": (
        migration(alter("status", models.BigIntegerField())),
        "tickets_ticket is written anew: status gets another type",
    ),
    "a shorter text": (
        migration(alter("carrier", models.CharField(max_length=50))),
        "carrier gets another type",
    ),
    "not null": (
        migration(sql("ALTER TABLE tickets_ticket ALTER COLUMN note SET NOT NULL")),
        "NOT NULL of tickets_ticket.note reads every row",
    ),
    "a field removed": (
        migration(migrations.RemoveField("ticket", "carrier")),
        "tickets_ticket.carrier goes",
    ),
    "a field renamed": (
        migration(migrations.RenameField("ticket", "carrier", "carrier_name")),
        "tickets_ticket.carrier goes",
    ),
    "a model renamed": (
        migration(migrations.RenameModel("Macro", "Answer"), app="desk"),
        "desk_macro goes",
    ),
    "a model deleted": (migration(migrations.DeleteModel("Macro"), app="desk"), "desk_macro goes"),
    "one statement for all": (
        migration(sql("UPDATE tickets_ticket SET carrier = '' WHERE carrier IS NULL")),
        "one statement writes or locks tickets_ticket",
    ),
    "one statement in another": (
        migration(sql("WITH a AS (SELECT 1) UPDATE tickets_ticket SET carrier = ''")),
        "one statement writes or locks tickets_ticket",
    ),
    "a copy of all": (
        migration(sql("INSERT INTO tickets_comment(text) SELECT carrier FROM tickets_ticket")),
        "one statement writes or locks tickets_comment",
    ),
    "a block of SQL": (
        migration(sql("DO $$ BEGIN UPDATE tickets_ticket SET carrier = ''; END $$")),
        "one statement writes or locks tickets_ticket",
    ),
    "a lock": (
        migration(sql("LOCK TABLE tickets_ticket")),
        "one statement writes or locks tickets_ticket",
    ),
    "batches in a transaction": (
        migration(migrations.RunPython(fill_in_batches)),
        "fill_in_batches needs atomic = False",
    ),
    "batches in an operation's transaction": (
        migration(migrations.RunPython(fill_in_batches, atomic=True), atomic=False),
        "fill_in_batches needs atomic = False",
    ),
    "everything at once": (
        migration(migrations.RunPython(fill_at_once), atomic=False),
        "fill_at_once has no loop",
    ),
    "nobody knows what": (
        migration(migrations.RunPython(fill_something)),
        "fill_something needs atomic = False",
    ),
    "inside of another operation": (
        migration(
            migrations.SeparateDatabaseAndState(
                database_operations=[migrations.AddIndex("ticket", INDEX)]
            )
        ),
        "without CONCURRENTLY",
    ),
}


@pytest.mark.parametrize("made_up", MAY.values(), ids=MAY)
def test_a_migration_may(made_up: migrations.Migration) -> None:
    assert problems(made_up) == []


@pytest.mark.parametrize(("made_up", "problem"), MAY_NOT.values(), ids=MAY_NOT)
def test_a_migration_may_not(made_up: migrations.Migration, problem: str) -> None:
    assert [problem in text for text in problems(made_up)][:1] == [True]


def test_a_column_may_become_not_null_once_that_is_checked() -> None:
    promise = migration(AddConstraintNotValid("ticket", HAS_NOTE))
    check = migration(ValidateConstraint("ticket", HAS_NOTE.name))
    not_null = migration(alter("note", models.TextField()))

    assert problems(promise) == []
    assert problems(promise, check) == []
    assert problems(promise, check, not_null) == []
    assert len(problems(promise, not_null)) == 1


def test_a_column_goes_a_version_after_its_last_reader(settings: Settings) -> None:
    settings.VERSION = "1.10.0"
    removal = migrations.RemoveField("ticket", "carrier")

    def unread_since(version: str) -> list[str]:
        return problems(migration(removal, unread_since={"tickets_ticket.carrier": version}))

    assert unread_since("1.9.0") == []
    assert len(unread_since("1.10.0")) == 1
