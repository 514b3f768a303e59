"""A call says what it passes: no `*(a, b)` or `**{"name": value}` to keep it on few lines.

No editor, search or type checker can follow an argument through them.
"""

import ast
from collections.abc import Iterator

import pytest

from tests.test_architecture import LINE, ROOT

FOLDERS = [*LINE, "clients", "tools", "tests"]


def splats(tree: ast.AST) -> Iterator[int]:
    """Yield the lines of literals that are unpacked where they stand."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Starred) and isinstance(node.value, ast.Tuple | ast.List):
            yield node.lineno
        if isinstance(node, ast.Call):
            yield from (
                keyword.value.lineno
                for keyword in node.keywords
                if keyword.arg is None and isinstance(keyword.value, ast.Dict)
                # Keys that are computed, or no identifiers, can be passed in no other way.
                if all(
                    isinstance(key, ast.Constant) and str(key.value).isidentifier()
                    for key in keyword.value.keys
                )
            )
        if isinstance(node, ast.Dict):
            yield from (
                value.lineno
                for key, value in zip(node.keys, node.values, strict=True)
                if key is None and isinstance(value, ast.Dict)
            )


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_literal_is_unpacked_where_it_stands(folder: str) -> None:
    unpacked = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line in splats(ast.parse(path.read_text()))
    ]
    assert unpacked == []


@pytest.mark.parametrize(
    "code",
    ["f(*(a, b))", "x = (*('a', 'b'), c)", "f(**{'a': 1})", "x = {**{'a': 1}, 'b': 2}"],
)
def test_an_unpacked_literal_is_noticed(code: str) -> None:
    assert list(splats(ast.parse(code))) == [1]


@pytest.mark.parametrize("code", ["f(*rest)", "f(**{name: 1})", "f(**{'X-Id': 1})", "f(**known)"])
def test_unavoidable_unpacking_passes(code: str) -> None:
    assert list(splats(ast.parse(code))) == []
