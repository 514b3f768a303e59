"""Operations for migrations that run while the service is at work."""

from typing import Any

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState


class FinishOthers(Operation):
    """Do now what Django leaves to the end of a migration, but for what locks one of `tables`.

    A lock is held until the migration is committed. So what locks a table that every request needs
    comes last: the operations that change such a table stand behind this one, and foreign keys that
    lead to it are made at the very end.
    """

    reduces_to_sql = False

    def __init__(self, *tables: str) -> None:
        self.tables = tables

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        return self.__class__.__name__, list(self.tables), {}

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """The same tables come of it."""

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        for statement in tuple(schema_editor.deferred_sql):
            if not any(map(statement.references_table, self.tables)):
                schema_editor.deferred_sql.remove(statement)
                schema_editor.execute(statement)

    def database_backwards(self, *_: Any) -> None:
        """On the way back everything is dropped, which takes no time."""

    def describe(self) -> str:
        return f"All but what locks {', '.join(self.tables)}"
