"""What an ALTER TABLE may do to a table that is in use."""

import re
from collections.abc import Iterator

DEFAULT = re.compile(r"\bDEFAULT (.*?)(?= NOT NULL| NULL| CHECK| CONSTRAINT| UNIQUE|$)", re.I)
# A default that is the same for all rows costs nothing; any other is worked out for each of them.
SAME_FOR_ALL = re.compile(r"\b(now|transaction_timestamp|statement_timestamp)\(\)|::\w+\S*", re.I)
CONSTRAINT = re.compile(
    r"ADD (?:CONSTRAINT (\w+) )?((?:CHECK|NOT NULL|UNIQUE|PRIMARY KEY|FOREIGN KEY|EXCLUDE)\b.*)",
    re.I,
)
ADD = re.compile(r"ADD (?:COLUMN )?(?:IF NOT EXISTS )?(\w+)", re.I)
ALTER = re.compile(r"ALTER (?:COLUMN )?(\w+) (.*)", re.I)
VALIDATE = re.compile(r"VALIDATE CONSTRAINT (\w+)", re.I)
NOT_NULL = re.compile(r"CHECK \(+(\w+) IS NOT NULL\)+|NOT NULL (\w+)", re.I)
# Who drops or renames: a column, or the table itself.
GONE = re.compile(
    r"DROP COLUMN (?:IF EXISTS )?(\w+)|RENAME (?!CONSTRAINT|TO)(?:COLUMN )?(\w+) TO|RENAME TO", re.I
)
Column = tuple[str, str]


class NotNull:
    """Which columns the constraints of earlier migrations have found to be without a null."""

    def __init__(self) -> None:
        self.promised: dict[str, Column] = {}
        self.checked: set[Column] = set()


class Columns:
    """What one migration does to the columns and constraints of tables that it did not create."""

    def __init__(self, not_null: NotNull, *, atomic: bool) -> None:
        self.not_null = not_null
        self.atomic = atomic
        self.new: set[Column] = set()
        self.constraints: set[str] = set()

    def read(self, table: str, action: str, *, hot: bool, longer: set[Column]) -> Iterator[str]:
        """The problems of one action; `longer` columns get a type that holds what they have."""
        if found := CONSTRAINT.match(action):
            yield from self.add_constraint(table, found[1] or "(no name)", found[2], hot)
        elif found := ADD.match(action):
            yield from self.add(table, found[1], action, hot)
        elif found := ALTER.match(action):
            yield from self.alter((table, found[1]), found[2], hot, longer)
        elif found := VALIDATE.match(action):
            if hot and self.atomic and found[1] in self.constraints:
                yield f"{found[1]} is validated under the lock that adding it took"
            if found[1] in self.not_null.promised:
                self.not_null.checked.add(self.not_null.promised[found[1]])
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
        if found := NOT_NULL.match(action):
            self.not_null.promised[name] = (table, found[1] or found[2])
        if not hot:
            return
        if re.match(r"CHECK|NOT NULL|FOREIGN KEY", action, re.I):
            if not re.search(r"\bNOT VALID\b", action, re.I):
                yield f"constraint {name} is not NOT VALID at first"
        elif not re.search(r"\bUSING INDEX\b", action, re.I):
            yield f"constraint {name} builds its index under a lock: build it before, USING INDEX"
