"""Pairs of acts, one for each lock in the code: the second waits for the first, or passes it by.

Each app has its pairs in `tests/<app>/test_lock_pairs.py`. `tests/test_architecture.py` finds the
locks, and fails for one without a pair.
"""

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from unittest.mock import ANY

from django.db import transaction

from tests.tickets.racing import in_order, meanwhile

ROOT = Path(__file__).resolve().parent.parent
# A lock in the text of a statement.
LOCK = re.compile(
    r"\bFOR\s+(?:NO\s+KEY\s+UPDATE|UPDATE|SHARE|KEY\s+SHARE)\b"
    r"|\bpg_(?:try_)?advisory_\w+\(|\bLOCK\s+TABLE\b"
)
# A SELECT without a lock waits for nobody, and a write is recognized by its first word.
WAITS_AT_LOCK = re.compile(rf"\A\s*SELECT\b|{LOCK.pattern}")
# Functions that take the lock of `core/data/locks.py` for their caller.
LOCKING_FUNCTIONS = {"hold", "try_key"}


class Pair(NamedTuple):
    """Two acts that need one lock. `gives`: the second's result, or the error that it raises.

    `waits`: the second waits until the first has committed, in a statement like `at`; otherwise it
    passes by the first one's lock, without waiting.
    """

    first: Callable[[], object]
    second: Callable[[], object]
    gives: object = ANY
    waits: bool = True
    at: re.Pattern[str] = WAITS_AT_LOCK


MakePair = Callable[[], Pair]
PAIRS: dict[str, list[MakePair]] = {}


def shows(*places: str) -> Callable[[MakePair], MakePair]:
    """Register a function that makes a pair, for the locks taken in these places."""

    def register(make: MakePair) -> MakePair:
        for place in places:
            PAIRS.setdefault(place, []).append(make)
        return make

    return register


def twice(act: Callable[[], object], gives: object = ANY, *, waits: bool = True) -> Pair:
    return Pair(first=act, second=act, gives=gives, waits=waits)


def pairs_in(module: str) -> list[MakePair]:
    in_module = [make for pairs in PAIRS.values() for make in pairs if make.__module__ == module]
    return list(dict.fromkeys(in_module))


def play(pair: Pair) -> None:
    """Fail unless the second act waits at a lock, or passes by, and gives what it has to."""
    if pair.waits:
        _, result = in_order(pair.first, pair.second, at=pair.at)
    else:
        _, result = meanwhile(pair.first, pair.second)
    if isinstance(pair.gives, type) and issubclass(pair.gives, Exception):
        assert isinstance(result, pair.gives)
    else:
        assert result == pair.gives


def in_transaction(act: Callable[[], object]) -> Callable[[], object]:
    """Return the act as run by its caller, which owns the transaction."""

    def run() -> object:
        with transaction.atomic():
            return act()

    return run


def locks_in(path: str, source: str) -> Counter[str]:
    """Count the locks of a file by the function or the constant in which they are taken."""
    return Counter(f"{path}::{owner}" for owner in owners(ast.parse(source), ""))


def owners(node: ast.AST, owner: str) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        owner = f"{owner}.{node.name}".lstrip(".")
    elif isinstance(node, ast.Assign | ast.AnnAssign) and not owner:
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        owner = getattr(target, "id", "")
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        # Docstrings may mention locks.
        return
    if isinstance(node, ast.Attribute):
        is_locking = node.attr in LOCKING_FUNCTIONS and getattr(node.value, "id", "") == "locks"
        if is_locking or node.attr == "select_for_update":
            yield owner
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from [owner] * len(LOCK.findall(node.value))
    for child in ast.iter_child_nodes(node):
        yield from owners(child, owner)


def locks_without_a_pair(locks: Counter[str]) -> list[str]:
    """Return the places with fewer pairs than locks."""
    return sorted((locks - Counter({place: len(each) for place, each in PAIRS.items()})).elements())


def covered_elsewhere(place: str, test: str) -> None:
    """Name the test of a lock whose pair `play` cannot run: `file.py::name`."""
    path, _, name = test.partition("::")
    if f"def {name}(" not in (ROOT / path).read_text():
        raise LookupError(f"There is no {test}.")
    PAIRS.setdefault(place, []).append(no_pair)


def no_pair() -> Pair:
    raise AssertionError("another test shows this lock")
