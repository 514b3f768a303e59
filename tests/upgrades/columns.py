"""Rules for an ALTER TABLE on a table in use."""

import re
from collections.abc import Iterator

DEFAULT = re.compile(r"\bDEFAULT (.*?)(?= NOT NULL| NULL| CHECK| CONSTRAINT| UNIQUE|$)", re.I)
# A default that is the same for all rows costs nothing; any other is computed for each row.
SAME_FOR_ALL = re.compile(r"\b(now|transaction_timestamp|statement_timestamp)\(\)|::\w+\S*", re.I)
CONSTRAINT = re.compile(
    r"ADD (?:CONSTRAINT (\w+) )?((?:CHECK|NOT NULL|UNIQUE|PRIMARY KEY|FOREIGN KEY|EXCLUDE)\b.*)",
    re.I,
)
ADD = re.compile(r"ADD (?:COLUMN )?(?:IF NOT EXISTS )?(\w+)", re.I)
ALTER = re.compile(r"ALTER (?:COLUMN )?(\w+) (.*)", re.I)
VALIDATE = re.compile(r"VALIDATE CONSTRAINT (\w+)", re.I)
NOT_NULL = re.compile(r"CHECK \(+(\w+) IS NOT NULL\)+|NOT NULL (\w+)", re.I)
# Actions that drop or rename: a column, or the table itself.
DROP_OR_RENAME = re.compile(
    r"DROP COLUMN (?:IF EXISTS )?(\w+)|RENAME (?!CONSTRAINT|TO)(?:COLUMN )?(\w+) TO|RENAME TO", re.I
)
Column = tuple[str, str]


class NotNull:
    """Columns that the constraints of earlier migrations have proved to be without a null."""

    def __init__(self) -> None:
        self.promised: dict[str, Column] = {}
        self.checked: set[Column] = set()


class Columns:
    """Effects of one migration on columns and constraints of tables that it did not create."""

    def __init__(self, not_null: NotNull, *, atomic: bool) -> None:
        self.not_null = not_null
        self.atomic = atomic
        self.new: set[Column] = set()
        self.constraints: set[str] = set()

    def read(self, table: str, action: str, *, hot: bool, longer: set[Column]) -> Iterator[str]:
        """Yield the problems of one action; `longer` columns get a type that holds their values."""
        if match := CONSTRAINT.match(action):
            yield from self.add_constraint(table, match[1] or "(no name)", match[2], hot)
        elif match := ADD.match(action):
            yield from self.add(table, match[1], action, hot)
        elif match := ALTER.match(action):
            yield from self.alter((table, match[1]), match[2], hot, longer)
        elif match := VALIDATE.match(action):
            if hot and self.atomic and match[1] in self.constraints:
                yield f"{match[1]} is validated under the lock that adding it took"
            if match[1] in self.not_null.promised:
                self.not_null.checked.add(self.not_null.promised[match[1]])
        elif hot and re.match(r"SET (TABLESPACE|LOGGED|UNLOGGED)", action, re.I):
            yield f"{table} is written anew"

    def add(self, table: str, column: str, action: str, hot: bool) -> Iterator[str]:
        self.new.add((table, column))
        default = DEFAULT.search(action)
        if re.search(r"\bNOT NULL\b", action, re.I) and not default:
            yield f"{table}.{column} is neither nullable nor has it a default in the database"
        if not hot:
            return
        if default and re.search(r"\w\(", SAME_FOR_ALL.sub("", default[1])):
            yield f"{table} is written anew: the default of {column} may differ from row to row"
        if re.search(r"\bGENERATED\b", action, re.I):
            yield f"{table} is written anew: {column} is generated"
        if re.search(r"\b(UNIQUE|PRIMARY KEY)\b", action, re.I):
            yield f"the index of {table}.{column} is built under a lock"

    def alter(self, at: Column, action: str, hot: bool, longer: set[Column]) -> Iterator[str]:
        table, column = at
        if re.match(r"DROP DEFAULT", action, re.I) and at in self.new:
            yield f"{table}.{column} has no default in the database: give it a db_default"
        if not hot:
            return
        if re.match(r"(SET DATA )?TYPE\b", action, re.I) and at not in longer:
            yield f"{table} is written anew: {column} gets another type"
        if re.match(r"SET NOT NULL", action, re.I) and at not in self.not_null.checked:
            yield f"NOT NULL of {table}.{column} reads every row: validate a CHECK of it first"

    def add_constraint(self, table: str, name: str, action: str, hot: bool) -> Iterator[str]:
        self.constraints.add(name)
        if match := NOT_NULL.match(action):
            self.not_null.promised[name] = (table, match[1] or match[2])
        if not hot:
            return
        if re.match(r"CHECK|NOT NULL|FOREIGN KEY", action, re.I):
            if not re.search(r"\bNOT VALID\b", action, re.I):
                yield f"constraint {name} is not NOT VALID at first"
        elif not re.search(r"\bUSING INDEX\b", action, re.I):
            yield f"constraint {name} builds its index under a lock: build it before, USING INDEX"
