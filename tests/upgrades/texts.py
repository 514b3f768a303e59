"""The texts of migrations, in a form that regular expressions can read."""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable
from typing import Any

# A string or the body of a function, which says nothing about the statement around it.
QUOTED = re.compile(r"\$(\w*)\$.*?\$\1\$|'(?:[^']|'')*'", re.DOTALL)


def plain(statement: str) -> str:
    """Return a statement on one line, without quotes and quoted texts."""
    # The body of a DO is executed, so it stays.
    if not re.match(r"\s*DO\b", statement, re.I):
        statement = QUOTED.sub("''", statement)
    return re.sub(r"\s+", " ", statement.replace('"', "").replace("public.", "")).strip(" ;")


def actions(text: str) -> list[str]:
    """Return an ALTER TABLE's actions, split at the commas outside of parentheses."""
    depth, parts = 0, [""]
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [action.strip() for action in parts]


def source(function: Callable[..., Any]) -> str:
    """Return a function's source, and that of the functions and strings that it names."""
    sources: dict[str, str] = {}

    def take(function: Callable[..., Any]) -> None:
        sources[function.__name__] = text = textwrap.dedent(inspect.getsource(function))
        for node in ast.walk(ast.parse(text)):
            value = function.__globals__.get(node.id) if isinstance(node, ast.Name) else None
            if isinstance(value, str):
                sources[node.id] = f"{node.id} = {value!r}"
            elif inspect.isfunction(value) and value.__name__ not in sources:
                take(value)

    take(function)
    return "\n".join(sources.values())
