"""The house, kept true: who may import whom, and what stays pure."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LINE = ["companies", "webhooks", "deliveries", "shipments", "tickets", "desk", "config"]
# They decide without a database, a framework or a broker, and can be read as tables.
PURE = {
    "companies": ["tokens", "times"],
    "webhooks": ["types", "targets", "addresses"],
    "deliveries": ["signing", "schedule", "answers", "resolver", "transport", "rooms"],
    "shipments": ["statuses", "feed", "fields"],
    "tickets": ["statuses", "rules", "variables", "calendars", "clocks", "picking"],
    "desk": ["storm_rule"],
}
FRAMEWORKS = {"django", "rest_framework", "celery", "requests", "psycopg"}


def sources(app: str) -> Iterator[Path]:
    return (path for path in (ROOT / app).rglob("*.py") if "migrations" not in path.parts)


def imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def breaches(app: str, source: str) -> list[str]:
    """Imports of an app that stands further along the line."""
    later = set(LINE[LINE.index(app) + 1 :])
    tops = {name.partition(".")[0] for name in imports(ast.parse(source))}
    return sorted(tops & later)


@pytest.mark.parametrize("app", LINE)
def test_imports_run_along_the_line(app: str) -> None:
    wrong = {
        f"{path.relative_to(ROOT)}": found
        for path in sources(app)
        if (found := breaches(app, path.read_text()))
    }
    assert wrong == {}


def test_a_breach_is_caught() -> None:
    assert breaches("companies", "from tickets.models import Ticket") == ["tickets"]
    assert breaches("tickets", "import config.settings") == ["config"]


@pytest.mark.parametrize("app", LINE)
def test_own_modules_are_imported_at_the_top(app: str) -> None:
    hidden = [
        f"{path.relative_to(ROOT)}:{inner.lineno}"
        for path in sources(app)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
        for inner in ast.walk(node)
        if isinstance(inner, ast.Import | ast.ImportFrom)
    ]
    assert hidden == []


@pytest.mark.parametrize(
    ("app", "module"), [(app, module) for app, modules in PURE.items() for module in modules]
)
def test_pure_modules_know_no_framework(app: str, module: str) -> None:
    names = list(imports(ast.parse((ROOT / app / f"{module}.py").read_text())))

    assert {name.partition(".")[0] for name in names} & FRAMEWORKS == set()
    assert not [name for name in names if name.endswith((".models", ".services"))]


def test_only_the_transport_talks_to_strangers() -> None:
    talkers = {
        path.relative_to(ROOT).as_posix(): sorted(found)
        for app in LINE
        for path in sources(app)
        if (
            found := {"pycurl", "requests", "httpx", "urllib3"}
            & set(imports(ast.parse(path.read_text())))
        )
    }
    assert talkers == {"deliveries/transport.py": ["pycurl"]}


def test_files_and_functions_stay_short() -> None:
    long = []
    for app in LINE:
        for path in sources(app):
            text = path.read_text()
            name = path.relative_to(ROOT)
            if text.count("\n") > 250:
                long.append(f"{name}: {text.count(chr(10))} lines")
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.FunctionDef) and node.end_lineno - node.lineno > 50:
                    long.append(f"{name}:{node.name}")
    assert long == []
