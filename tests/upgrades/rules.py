"""What a migration may do while the version before is still at work on the same database.

`Reader.problems` reads the SQL of one migration, statement by statement, and says what would fail
for that version, or lock a hot table for long. A table that the migration itself creates is free.
What drops or renames needs a line in the migration: `unread_since = {"tickets_ticket.data":
"1.3.0"}` says that 1.3.0 was the first version not to use the column; "0" that no released one did.

The rules go by the first words of statements, which is enough for what Django and people write,
and no parser of SQL. A RunPython shows no statements: it must be in batches, outside of a
transaction, unless its text names models and all of them are of cold tables.
"""

import ast
import re
from collections.abc import Iterator

from django.conf import settings
from django.db import connection
from django.db.migrations import Migration, RunPython, SeparateDatabaseAndState
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

from tests.upgrades.collecting import CollectingEditor
from tests.upgrades.columns import GONE, Column, Columns, NotNull
from tests.upgrades.texts import actions, plain, source

# Large, or written by every request and delivery: to lock one is to stop the service.
HOT = re.compile(
    r"\b(deliveries_\w+|shipments_\w+|companies_keptanswer|desk_visit"
    r"|tickets_(ticket|historyentry|comment|document|incidencelink|rating))\b"
)
# Those, and small ones that are read all the time.
READ = r"tickets_(tickettype|agent)|companies_(company|apitoken)|webhooks_webhook"
NEEDED = re.compile(f"{HOT.pattern}|{READ}")
TIMEOUT = re.compile(r"SET (?:SESSION )?statement_timeout\b", re.I)
CREATE_TABLE = re.compile(r"CREATE TABLE (?:IF NOT EXISTS )?(\w+)", re.I)
CREATE_INDEX = re.compile(
    r"CREATE (?:UNIQUE )?INDEX (CONCURRENTLY )?(?:IF NOT EXISTS )?(?:\w+ )?ON (ONLY )?(\w+)", re.I
)
DROP_INDEX = re.compile(r"DROP INDEX (CONCURRENTLY )?(?:IF EXISTS )?(\w+)", re.I)
ALTER_TABLE = re.compile(r"ALTER TABLE (?:IF EXISTS )?(?:ONLY )?(\w+) (.*)", re.I)
REFERENCES = re.compile(r"\bREFERENCES (\w+)", re.I)
DROP_TABLE = re.compile(r"DROP TABLE (?:IF EXISTS )?(\w+)", re.I)
WRITES = re.compile(
    r"\b(?:UPDATE(?: ONLY)?|DELETE FROM(?: ONLY)?|INSERT INTO(?= \w+.*\bSELECT\b)"
    r"|TRUNCATE(?: TABLE)?|LOCK(?: TABLE)?|CLUSTER|VACUUM FULL"
    r"|REINDEX (?:TABLE|INDEX)(?! CONCURRENTLY)) (\w+)",
    re.I,
)
HARMLESS = re.compile(r"(CREATE|ALTER|COMMENT|DROP (TRIGGER|FUNCTION|VIEW|TYPE))\b", re.I)
GET_MODEL = re.compile(r"""get_model\(\s*["'](\w+)\W+(\w+)["']""")
VARCHAR = re.compile(r"varchar\((\d+)\)")


class Reader:
    """Reads migrations in their order."""

    def __init__(self) -> None:
        self.not_null = NotNull()

    def problems(self, migration: Migration, state: ProjectState) -> list[str]:
        """What is wrong with a migration, given the state before it; `state` stays as it is."""
        reading = Reading(migration, Columns(self.not_null, atomic=migration.atomic))
        return [f"{migration}: {problem}" for problem in reading.read(state.clone())]


class Reading:
    """One migration, and what it has done so far."""

    def __init__(self, migration: Migration, columns: Columns) -> None:
        self.migration = migration
        self.columns = columns
        self.unread: dict[str, str] = getattr(migration, "unread_since", {})
        self.new_tables: set[str] = set()
        self.sets_timeout = False
        # The first hot table that is locked until the end, and what is done meanwhile.
        self.holding = ""
        self.waited_for: list[str] = []

    def read(self, state: ProjectState) -> Iterator[str]:
        app = self.migration.app_label
        with CollectingEditor() as editor:
            longer: set[Column] = set()
            for operation, before, after in steps(app, self.migration.operations, state):
                if isinstance(operation, RunPython):
                    self.follows_a_lock(operation.code.__name__)
                    yield from self.python(operation, before)
                    continue
                longer = made_longer(before, after)
                done = len(editor.collected_sql)
                operation.database_forwards(app, editor, before, after)
                for statement in editor.collected_sql[done:]:
                    yield from self.statement(plain(statement), before, longer)
            done = len(editor.collected_sql)
        # What Django puts off to the end.
        for statement in editor.collected_sql[done:]:
            yield from self.statement(plain(statement), state, longer)
        if self.holding and self.waited_for:
            yield (
                f"{self.holding} is locked while other things are done, from"
                f" {self.waited_for[0]!r} on: LockLast, or a migration of its own"
            )

    def follows_a_lock(self, text: str) -> None:
        """Note what a hot table is locked for, which the migration has locked before."""
        # A foreign key stops who writes the table that it leads to, any other change who reads it.
        altered = ALTER_TABLE.match(text)
        locked = [one for one in REFERENCES.findall(text) if HOT.fullmatch(one)]
        locked += [altered[1]] if altered and NEEDED.fullmatch(altered[1]) else []
        if locked := [one for one in locked if one not in self.new_tables]:
            self.holding = self.holding or locked[0]
        elif self.holding and self.migration.atomic:
            self.waited_for.append(text[:60])

    def is_hot(self, table: str) -> bool:
        return table not in self.new_tables and bool(HOT.fullmatch(table))

    def python(self, operation: RunPython, state: ProjectState) -> Iterator[str]:
        if operation.code is RunPython.noop:
            return
        text = source(operation.code)
        named = {table_of(state, app, model.lower()) for app, model in GET_MODEL.findall(text)}
        if named and not HOT.search(text) and not any(map(self.is_hot, named)):
            return
        name = operation.code.__name__
        if self.migration.atomic or operation.atomic:
            yield f"{name} needs atomic = False, so that each batch is committed"
        if not any(isinstance(node, ast.For | ast.While) for node in ast.walk(ast.parse(text))):
            yield f"{name} has no loop: write in batches"

    def statement(self, text: str, state: ProjectState, longer: set[Column]) -> Iterator[str]:
        self.follows_a_lock(text)
        if TIMEOUT.match(text):
            self.sets_timeout = True
        elif found := CREATE_TABLE.match(text):
            self.new_tables.add(found[1])
        elif found := CREATE_INDEX.match(text):
            yield from self.create_index(bool(found[1]), bool(found[2]), found[3])
        elif found := DROP_INDEX.match(text):
            yield from self.drop_index(bool(found[1]), found[2], state)
        elif found := DROP_TABLE.match(text):
            yield from self.gone(found[1])
        elif found := ALTER_TABLE.match(text):
            yield from self.alter_table(found[1], found[2], longer)
        elif not HARMLESS.match(text):
            for table in filter(self.is_hot, WRITES.findall(text)):
                yield f"one statement writes or locks {table}: use a RunPython in batches"

    def alter_table(self, table: str, text: str, longer: set[Column]) -> Iterator[str]:
        if table in self.new_tables:
            return
        for action in actions(text):
            if found := GONE.match(action):
                column = found[1] or found[2]
                yield from self.gone(f"{table}.{column}" if column else table)
            else:
                hot = self.is_hot(table)
                yield from self.columns.read(table, action, hot=hot, longer=longer)

    def create_index(self, concurrently: bool, only: bool, table: str) -> Iterator[str]:
        if concurrently and self.migration.atomic:
            yield "CONCURRENTLY needs atomic = False"
        # ONLY: of a partitioned table, whose partitions get theirs one by one.
        if not self.is_hot(table) or only:
            return
        if not concurrently:
            yield f"an index on {table} is built without CONCURRENTLY"
        elif not self.sets_timeout:
            yield f"an index on {table} takes its time: SET statement_timeout = 0 before it"

    def drop_index(self, concurrently: bool, name: str, state: ProjectState) -> Iterator[str]:
        if concurrently and self.migration.atomic:
            yield "CONCURRENTLY needs atomic = False"
        tables = {
            table_of(state, *key)
            for key, model in state.models.items()
            if name in {index.name for index in model.options.get("indexes", [])}
        }
        if not concurrently and (not tables or any(map(self.is_hot, tables))):
            yield f"index {name} is dropped without CONCURRENTLY"

    def gone(self, what: str) -> Iterator[str]:
        """The version before may use what is dropped here, or gets another name."""
        since = self.unread.get(what)
        if what in self.new_tables:
            return
        if since is None:
            yield f"{what} goes: unread_since must say from which version on nobody uses it"
        elif version(since) >= version(settings.VERSION):
            yield f"{what} goes, and the version before {settings.VERSION} uses it"


def steps(
    app: str, operations: list[Operation], state: ProjectState
) -> Iterator[tuple[Operation, ProjectState, ProjectState]]:
    """Each operation on the database, with the states before and after it."""
    for operation in operations:
        if type(operation) is SeparateDatabaseAndState:
            yield from steps(app, operation.database_operations, state.clone())
            operation.state_forwards(app, state)
            continue
        before = state.clone()
        operation.state_forwards(app, state)
        yield operation, before, state


def made_longer(before: ProjectState, after: ProjectState) -> set[Column]:
    """Columns whose new type holds the stored values as they are: longer text."""
    found = set()
    for key in before.models.keys() & after.models.keys():
        old, new = before.models[key].fields, after.models[key].fields
        for name in old.keys() & new.keys():
            if old[name] is new[name]:
                continue
            was = before.apps.get_model(*key)._meta.get_field(name)
            now = after.apps.get_model(*key)._meta.get_field(name)
            if holds(now.db_type(connection) or "", was.db_type(connection) or ""):
                found.add((was.model._meta.db_table, was.column))
    return found


def holds(new: str, old: str) -> bool:
    room, needed = VARCHAR.fullmatch(new), VARCHAR.fullmatch(old)
    if room and needed:
        return int(room[1]) >= int(needed[1])
    return new == "text" and needed is not None


def table_of(state: ProjectState, app: str, model: str) -> str:
    known = state.models.get((app, model))
    return (known and known.options.get("db_table")) or f"{app}_{model}"


def version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))
