"""The texts of migrations, in a form that regular expressions can read."""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable
from typing import Any

# A string or the body of a function: it says nothing about the statement around it.
QUOTED = re.compile(r"\$(\w*)\$.*?\$\1\$|'(?:[^']|'')*'", re.DOTALL)


def plain(statement: str) -> str:
    """A statement on one line, without quotes and without what stands in quotes."""
    # The body of a DO is what it does.
    if not re.match(r"\s*DO\b", statement, re.I):
        statement = QUOTED.sub("''", statement)
    return re.sub(r"\s+", " ", statement.replace('"', "").replace("public.", "")).strip(" ;")


def actions(text: str) -> list[str]:
    """What an ALTER TABLE does: its text, split at the commas that stand in no parentheses."""
    depth, found = 0, [""]
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and not depth:
            found.append("")
        else:
            found[-1] += letter
    return [action.strip() for action in found]


def source(function: Callable[..., Any]) -> str:
    """A function's text, and those of the functions and strings that it names."""
    found: dict[str, str] = {}

    def take(function: Callable[..., Any]) -> None:
        found[function.__name__] = text = textwrap.dedent(inspect.getsource(function))
        for node in ast.walk(ast.parse(text)):
            named = function.__globals__.get(node.id) if isinstance(node, ast.Name) else None
            if isinstance(named, str):
                found[node.id] = f"{node.id} = {named!r}"
            elif inspect.isfunction(named) and named.__name__ not in found:
                take(named)

    take(function)
    return "\n".join(found.values())
