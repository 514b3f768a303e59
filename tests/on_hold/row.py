"""Loads `tickets.statuses` with one more row in its table. The file itself stays as it is."""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType

MODULE = "tickets.statuses"
# Where the row goes: the order of the rows is the order of every list.
BEFORE = "    CLAIM_IN_REVIEW = "
ROW = """\
    ON_HOLD = (
        7,
        Row(
            clock=Clock.PAUSES,
            colour=Colour.AMBER,
            follow_up_by_request=True,
            move=AgentMove(verb="Put on hold", key="h", needs_reason=True),
        ),
    )
"""


class Loader(SourceFileLoader):
    def get_data(self, path: str) -> bytes:
        source = super().get_data(path).decode()
        assert source.count(BEFORE) == 1
        return source.replace(BEFORE, ROW + BEFORE).encode()

    def get_code(self, fullname: str) -> CodeType:
        # Neither from bytecode that was compiled without the row, nor into such.
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


class Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path) if fullname == MODULE else None
        if spec is not None and spec.origin is not None:
            spec.loader = Loader(fullname, spec.origin)
        return spec


def add() -> None:
    """From now on the table has the row. Called before anything imports it."""
    assert MODULE not in sys.modules
    sys.meta_path.insert(0, Finder())
