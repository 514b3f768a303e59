"""Rules for a migration that runs while the previous version is at work on the same database.

`Reader.problems` reads the SQL of one migration, statement by statement, and reports what would
fail for that version, or lock a hot table for long. Tables that the migration creates are free.
A drop or rename needs a line in the migration: `unread_since = {"tickets_ticket.data":
"1.3.0"}` says that 1.3.0 was the first version not to use the column; "0" that no released one did.

The rules go by the first words of statements, which suffices for SQL by Django and by people; this
is no parser of SQL. A RunPython shows no statements: it must be in batches, outside of a
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
from tests.upgrades.columns import DROP_OR_RENAME, Column, Columns, NotNull
from tests.upgrades.texts import actions, plain, source

# Large tables, or those written by every request and delivery: a lock stops the service.
HOT = re.compile(
    r"\b(deliveries_\w+|shipments_\w+|companies_keptanswer|desk_visit"
    r"|tickets_(ticket|historyentry|comment|document|incidencelink|rating))\b"
)
# The same and small ones that are read all the time.
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
        """Yield a migration's problems, given the state before it; `state` stays unchanged."""
        reading = Reading(migration, Columns(self.not_null, atomic=migration.atomic))
        return [f"{migration}: {problem}" for problem in reading.read(state.clone())]


class Reading:
    """One migration, and its effects so far."""

    def __init__(self, migration: Migration, columns: Columns) -> None:
        self.migration = migration
        self.columns = columns
        self.unread: dict[str, str] = getattr(migration, "unread_since", {})
        self.new_tables: set[str] = set()
        self.sets_timeout = False
        # The first hot table that is locked until the end, and later statements.
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
                read_count = len(editor.collected_sql)
                operation.database_forwards(app, editor, before, after)
                for statement in editor.collected_sql[read_count:]:
                    yield from self.statement(plain(statement), before, longer)
            read_count = len(editor.collected_sql)
        # Statements that Django defers to the end.
        for statement in editor.collected_sql[read_count:]:
            yield from self.statement(plain(statement), state, longer)
        if self.holding and self.waited_for:
            yield (
                f"{self.holding} is locked while other things are done, from"
                f" {self.waited_for[0]!r} on: LockLast, or a migration of its own"
            )

    def follows_a_lock(self, text: str) -> None:
        """Yield a problem if the migration has locked a hot table and now does more."""
        # A foreign key blocks writers of the referenced table; any other change blocks readers.
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
        tables = {table_of(state, app, model.lower()) for app, model in GET_MODEL.findall(text)}
        if tables and not HOT.search(text) and not any(map(self.is_hot, tables)):
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
        elif match := CREATE_TABLE.match(text):
            self.new_tables.add(match[1])
        elif match := CREATE_INDEX.match(text):
            yield from self.create_index(bool(match[1]), bool(match[2]), match[3])
        elif match := DROP_INDEX.match(text):
            yield from self.drop_index(bool(match[1]), match[2], state)
        elif match := DROP_TABLE.match(text):
            yield from self.dropped(match[1])
        elif match := ALTER_TABLE.match(text):
            yield from self.alter_table(match[1], match[2], longer)
        elif not HARMLESS.match(text):
            for table in filter(self.is_hot, WRITES.findall(text)):
                yield f"one statement writes or locks {table}: use a RunPython in batches"

    def alter_table(self, table: str, text: str, longer: set[Column]) -> Iterator[str]:
        if table in self.new_tables:
            return
        for action in actions(text):
            if match := DROP_OR_RENAME.match(action):
                column = match[1] or match[2]
                yield from self.dropped(f"{table}.{column}" if column else table)
            else:
                hot = self.is_hot(table)
                yield from self.columns.read(table, action, hot=hot, longer=longer)

    def create_index(self, concurrently: bool, only: bool, table: str) -> Iterator[str]:
        if concurrently and self.migration.atomic:
            yield "CONCURRENTLY needs atomic = False"
        # ONLY: the partitions of this table get theirs one by one.
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

    def dropped(self, what: str) -> Iterator[str]:
        """Yield a problem if the previous version may use the dropped or renamed name."""
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
    """Yield each operation on the database, with the states before and after it."""
    for operation in operations:
        if type(operation) is SeparateDatabaseAndState:
            yield from steps(app, operation.database_operations, state.clone())
            operation.state_forwards(app, state)
            continue
        before = state.clone()
        operation.state_forwards(app, state)
        yield operation, before, state


def made_longer(before: ProjectState, after: ProjectState) -> set[Column]:
    """Return columns whose new type holds the stored values unchanged: longer text."""
    longer = set()
    for key in before.models.keys() & after.models.keys():
        old, new = before.models[key].fields, after.models[key].fields
        for name in old.keys() & new.keys():
            if old[name] is new[name]:
                continue
            old_field = before.apps.get_model(*key)._meta.get_field(name)
            now = after.apps.get_model(*key)._meta.get_field(name)
            if holds(now.db_type(connection) or "", old_field.db_type(connection) or ""):
                longer.add((old_field.model._meta.db_table, old_field.column))
    return longer


def holds(new: str, old: str) -> bool:
    room, needed = VARCHAR.fullmatch(new), VARCHAR.fullmatch(old)
    if room and needed:
        return int(room[1]) >= int(needed[1])
    return new == "text" and needed is not None


def table_of(state: ProjectState, app: str, model: str) -> str:
    model_state = state.models.get((app, model))
    return (model_state and model_state.options.get("db_table")) or f"{app}_{model}"


def version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))
