"""The SQL of a migration, without a database."""

from typing import Any

from django.db import connection
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.backends.postgresql.schema import DatabaseSchemaEditor


class CollectingEditor(DatabaseSchemaEditor):
    """Collects statements without a database, whose tables would be those of today."""

    def __init__(self) -> None:
        apart = connection.copy()
        # Django omits features that an older server lacks.
        apart.pg_version = 180000
        super().__init__(apart, collect_sql=True, atomic=False)

    def execute(self, sql: Any, params: Any = ()) -> None:
        # Skip the adapter's method, which quotes parameters by means of a connection.
        BaseDatabaseSchemaEditor.execute(self, sql, params)

    def _constraint_names(self, *_: Any, **__: Any) -> list[str]:
        return ["as_it_is_called"]
