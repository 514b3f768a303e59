"""One name, one meaning: no two modules give the same public name to different things."""

import ast
from collections import defaultdict
from collections.abc import Iterator

from tests.test_architecture import LINE, ROOT, sources

# Names that a framework asks for, and tasks, which bear the name of the service they call.
GIVEN = {"Command"}
TASKS = "tasks.py"


def public_names(source: str) -> Iterator[str]:
    """The functions and classes of a module; what begins with an underscore is its own."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield node.name


def taken_twice(modules: dict[str, str]) -> dict[str, list[str]]:
    """Names that several modules define, with those modules."""
    places = defaultdict(list)
    for place, source in modules.items():
        for name in public_names(source):
            places[name].append(place)
    return {name: found for name, found in places.items() if len(found) > 1 and name not in GIVEN}


def test_a_name_means_one_thing() -> None:
    modules = {
        path.relative_to(ROOT).as_posix(): path.read_text()
        for app in LINE
        for path in sources(app)
        if path.name != TASKS
    }
    assert taken_twice(modules) == {}


def test_a_second_meaning_is_noticed() -> None:
    modules = {"a.py": "class Target: ...", "b.py": "def check(): ...\nclass Target: ..."}

    assert taken_twice(modules) == {"Target": ["a.py", "b.py"]}
