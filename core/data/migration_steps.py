"""Operations for migrations that run while the service is at work."""

from collections.abc import Sequence
from typing import Any

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations import SeparateDatabaseAndState
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState


class LockLast(SeparateDatabaseAndState):
    """Last operation of a migration: `operations`, which lock `tables` that all requests need.

    A lock is held until the migration commits. Deferred SQL of the migration therefore runs first,
    except for foreign keys to `tables`, and all statements of `operations` are generated before the
    first of them is executed.
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
        collects_only = schema_editor.collect_sql
        earlier_sql = getattr(schema_editor, "collected_sql", [])
        schema_editor.collect_sql, schema_editor.collected_sql = True, []
        super().database_forwards(app_label, schema_editor, from_state, to_state)
        statements: list[str] = schema_editor.collected_sql
        schema_editor.collect_sql, schema_editor.collected_sql = collects_only, earlier_sql
        for statement in tuple(schema_editor.deferred_sql):
            if not any(map(statement.references_table, self.tables)):
                schema_editor.deferred_sql.remove(statement)
                schema_editor.execute(statement)
        if not collects_only:
            # One round trip to the server.
            statements = ["\n".join(statements)] if statements else []
        for each in statements:
            schema_editor.execute(each, params=None)
