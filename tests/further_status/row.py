"""Loads `tickets.statuses` with two more rows in its table. The file itself stays as it is.

Their ids, names and keys are those that nobody wants, so that no real status meets them.
"""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType

MODULE = "tickets.statuses"
# Where the rows go: the order of the rows is the order of every list.
BEFORE = "    CLAIM_IN_REVIEW = "
ROWS = """\
    SAMPLE_HELD = (
        9001,
        Row(
            turn=Turn.OTHERS,
            label=gettext_noop("Sample held"),
            colour=Colour.AMBER,
            follow_up_by_request=True,
            follow_up_by_comment=True,
            returns_after=timedelta(days=3),
            move=AgentMove(
                verb=gettext_noop("Hold sample"),
                action=gettext_noop("Hold selected samples"),
                key="y",
                needs_reason=True,
            ),
        ),
    )
    SAMPLE_ASKED = (
        9002,
        Row(
            turn=Turn.COMPANY,
            label=gettext_noop("Sample asked"),
            colour=Colour.AMBER,
            follow_up_by_request=True,
        ),
    )
"""


class Loader(SourceFileLoader):
    def get_data(self, path: str) -> bytes:
        source = super().get_data(path).decode()
        assert source.count(BEFORE) == 1
        return source.replace(BEFORE, ROWS + BEFORE).encode()

    def get_code(self, fullname: str) -> CodeType:
        # Neither from bytecode that was compiled without the rows, nor into such.
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
    """From now on the table has the rows. Called before anything imports it."""
    assert MODULE not in sys.modules
    sys.meta_path.insert(0, Finder())
