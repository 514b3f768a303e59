"""Operations for migrations that run while the service is at work."""

from collections.abc import Sequence
from typing import Any

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations import SeparateDatabaseAndState
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState


class LockLast(SeparateDatabaseAndState):
    """The last operation of a migration: `operations`, which lock `tables` that all requests need.

    A lock is held until the migration is committed. So all that Django leaves to the end of a
    migration is done before it, but for foreign keys that lead to `tables`, and the statements of
    `operations` are worked out before the first of them is executed.
    """

    def __init__(self, *tables: str, operations: Sequence[Operation] = ()) -> None:
        super().__init__(operations, operations)
        self.tables = tables

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        return self.__class__.__name__, [*self.tables], {"operations": self.database_operations}

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        only_shown, shown = schema_editor.collect_sql, getattr(schema_editor, "collected_sql", [])
        schema_editor.collect_sql, schema_editor.collected_sql = True, []
        super().database_forwards(app_label, schema_editor, from_state, to_state)
        statements: list[str] = schema_editor.collected_sql
        schema_editor.collect_sql, schema_editor.collected_sql = only_shown, shown
        for statement in tuple(schema_editor.deferred_sql):
            if not any(map(statement.references_table, self.tables)):
                schema_editor.deferred_sql.remove(statement)
                schema_editor.execute(statement)
        if not only_shown:
            # In one trip to the server.
            statements = ["\n".join(statements)] if statements else []
        for each in statements:
            schema_editor.execute(each, params=None)


PARTITIONS_LEFT = """
SELECT child.relname FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid
WHERE inhparent = %s::regclass AND NOT EXISTS (
  SELECT FROM pg_inherits AS own JOIN pg_index ON indexrelid = own.inhrelid
  WHERE own.inhparent = %s::regclass AND indrelid = child.oid)
ORDER BY 1
"""


def index_partitions(
    schema_editor: BaseDatabaseSchemaEditor, table: str, name: str, suffix: str, columns: str
) -> None:
    """Give each partition of a table an index while it is written, outside of a transaction.

    Partitions that are made meanwhile have it from the start.
    """
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        cursor.execute(f"CREATE INDEX IF NOT EXISTS {name} ON ONLY {table} {columns}")
        cursor.execute(PARTITIONS_LEFT, [table, name])
        for (partition,) in cursor.fetchall():
            index = f"{partition}_{suffix}"
            # An interrupted run leaves an index that is not valid.
            cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {index}")
            cursor.execute(f"CREATE INDEX CONCURRENTLY {index} ON {partition} {columns}")
            cursor.execute(f"ALTER INDEX {name} ATTACH PARTITION {index}")
        cursor.execute("RESET statement_timeout")
