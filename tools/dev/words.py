"""Check of words in Python files: how docstrings and comments begin, how things are named.

Run it as `python -m tools.dev.words [folder ...]`; `./dev lint` runs it over the repository.
The rule: CONTRIBUTING.md, "Words".
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tools.dev.bootstrap import ROOT

# A sentence that begins with one of these has lost its subject or its verb.
FIRST_WORDS = re.compile(
    r"\W*(Again|As|Before|Behind|Beside|From|How|None|Not|Of|Only|So|That|These|Those|What|Where"
    r"|Whether|Which|Who|Whom|Whose)\b"
)
# Participles and auxiliaries: as a whole name they do not say what they are about.
PARTICIPLES = re.compile(
    r"_*(asked|begun|counted|done|found|given|gone|had|heard|held|kept|known|left|lent|made|meant"
    r"|named|noted|put|said|seen|sent|shown|taken|told|was|were|written)_*",
    re.IGNORECASE,
)
# Per 1,000 assigned names. Lower it whenever possible; never raise it.
MOST_PARTICIPLES = 10.0

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class Found(NamedTuple):
    """A name, or the first line of a docstring or comment."""

    line: int
    text: str


def bad_openings(source: str) -> list[Found]:
    """Return docstrings and comments that begin with one of FIRST_WORDS."""
    openings = [*docstrings(ast.parse(source)), *comments(source)]
    return sorted(each for each in openings if FIRST_WORDS.match(each.text))


def docstrings(tree: ast.Module) -> Iterator[Found]:
    for node in ast.walk(tree):
        if isinstance(node, Documented) and (text := ast.get_docstring(node)):
            yield Found(node.body[0].lineno, text.splitlines()[0])


def comments(source: str) -> Iterator[Found]:
    """Yield the first line of each comment; a block of lines is one comment."""
    last_line = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        line = token.start[0]
        own_line = token.line.lstrip().startswith("#")
        if not (own_line and line == last_line + 1):
            yield Found(line, token.string)
        last_line = line if own_line else 0


def bad_names(source: str) -> list[Found]:
    """Return assigned names that are one of PARTICIPLES and nothing else."""
    names = assigned_names(ast.parse(source))
    return [name for name in names if PARTICIPLES.fullmatch(name.text)]


def assigned_names(tree: ast.Module) -> Iterator[Found]:
    """Yield variables, attributes, parameters, functions and classes where they are bound."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield Found(node.lineno, name)
            case ast.arg(arg=name):
                yield Found(node.lineno, name)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield Found(node.lineno, node.name)


def python_files(folders: Sequence[str]) -> Iterator[Path]:
    """Yield the files in these folders, without migrations: Django writes those."""
    for folder in folders or sorted(each.name for each in ROOT.glob("[!.]*/")):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path


def main(folders: Sequence[str]) -> int:
    """Print what to change, file by file; returns the exit code."""
    names = 0
    openings: list[str] = []
    participles: list[str] = []
    for path in python_files(folders):
        source = path.read_text()
        where = path.relative_to(ROOT)
        for line, text in bad_openings(source):
            openings.append(f"{where}:{line}: begin with a subject, a verb or a noun: {text}")
        names += sum(1 for _ in assigned_names(ast.parse(source)))
        participles += [
            f"{where}:{line}: {name!r} does not say of what" for line, name in bad_names(source)
        ]
    share = 1000 * len(participles) / max(1, names)
    print(*openings, sep="\n", end="\n" if openings else "")
    if share > MOST_PARTICIPLES:
        print(*participles, sep="\n")
        print(
            f"{share:.1f} of 1,000 names are participles, and {MOST_PARTICIPLES:g} may be;"
            " name the thing"
        )
    return int(bool(openings) or share > MOST_PARTICIPLES)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
