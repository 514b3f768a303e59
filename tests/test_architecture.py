"""Rules of the architecture: allowed imports between apps, and modules that stay pure."""

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

from tests.locks import locks_in, locks_without_a_pair

ROOT = Path(__file__).resolve().parent.parent
LINE = [
    "core",
    "companies",
    "webhooks",
    "deliveries",
    "shipments",
    "tickets",
    "portal",
    "desk",
    "config",
]
# They decide without a database, a framework or a broker, and can be read as tables.
PURE = [
    "core/values/currencies",
    "core/values/ids",
    "core/watch/log_bound",
    "core/watch/process_kinds",
    "core/watch/request_ids",
    "core/watch/url_secrets",
    "core/api/strict_json",
    "core/values/texts",
    "core/values/times",
    "companies/tokens",
    "core/watch/traces",
    "deliveries/engine/loans",
    "deliveries/engine/pace",
    "deliveries/engine/slots",
    "deliveries/engine/schedule",
    "deliveries/engine/signing",
    "deliveries/http/answers",
    "deliveries/http/name_servers",
    "deliveries/http/resolver",
    "deliveries/http/transport",
    "desk/storms/rule",
    "shipments/feed/fields",
    "shipments/feed/parsing",
    "shipments/statuses",
    "tickets/assignment/picking",
    "tickets/changes/variables",
    "tickets/money",
    "tickets/rules",
    "tickets/sla/calendars",
    "tickets/sla/clocks",
    "tickets/stated_fields",
    "tickets/statuses",
    "webhooks/addresses",
    "webhooks/envelope",
    "webhooks/event_types",
    "webhooks/targets",
]
# Packages that draw pages, reserved for the desk.
BACK_OFFICE = ("django.contrib.admin", "unfold")
PAGES = (*BACK_OFFICE, "django.forms", "django.template")
FRAMEWORKS = {"django", "rest_framework", "celery", "requests", "psycopg"}


def sources(app: str) -> Iterator[Path]:
    return (
        path
        for path in (ROOT / app).rglob("*.py")
        if "migrations" not in path.relative_to(ROOT).parts
    )


def imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def breaches(app: str, source: str) -> list[str]:
    """Return the imports of an app that stands further along the line."""
    later = set(LINE[LINE.index(app) + 1 :])
    tops = {name.partition(".")[0] for name in imports(ast.parse(source))}
    return sorted(tops & later)


@pytest.mark.parametrize("app", LINE)
def test_imports_run_along_the_line(app: str) -> None:
    wrong = {
        f"{path.relative_to(ROOT)}": breaching
        for path in sources(app)
        if (breaching := breaches(app, path.read_text()))
    }
    assert wrong == {}


def test_a_breach_is_caught() -> None:
    assert breaches("core", "from companies.models import Company") == ["companies"]
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


def impure(module: str, graph: dict[str, set[str]]) -> list[str]:
    """Return import chains, direct or indirect, from a module to a framework or a table."""
    ways, waiting, visited = [], [[module]], {module}
    while waiting:
        way = waiting.pop(0)
        names = list(imports(ast.parse(modules()[way[-1]].read_text())))
        frameworks = {name.partition(".")[0] for name in names} & FRAMEWORKS
        tables = {name for name in names if name.endswith((".models", ".services"))}
        ways += [" -> ".join([*way, name]) for name in sorted(frameworks | tables)]
        for each in sorted((graph[way[-1]] | above(way[-1])) - visited):
            visited.add(each)
            waiting.append([*way, each])
    return ways


def above(module: str) -> set[str]:
    """Yield the packages that contain a module: Python loads them first."""
    parts = module.split(".")
    return {".".join(parts[:length]) for length in range(1, len(parts))}


@pytest.mark.parametrize("module", PURE)
def test_pure_modules_know_no_framework_nor_does_what_they_import(module: str) -> None:
    assert impure(module.replace("/", "."), own_imports()) == []


def test_a_framework_two_imports_deep_is_caught() -> None:
    ways = impure("deliveries.engine.loop", own_imports())

    assert "deliveries.engine.loop -> deliveries.engine.claiming -> django" in ways


def test_pure_modules_load_no_framework() -> None:
    """Check it in Python itself as well: third-party packages may import one."""
    names = [module.replace("/", ".") for module in PURE]
    program = f"import sys, {', '.join(names)}; print(*sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert {name.partition(".")[0] for name in ran.stdout.split()} & FRAMEWORKS == set()


def pages(tree: ast.AST, packages: tuple[str, ...] = PAGES) -> list[str]:
    """Yield imports that only pages need, also as `from django.contrib import admin`."""
    names = [
        *imports(tree),
        *(
            f"{node.module}.{alias.name}"
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        ),
    ]
    return [name for name in names if f"{name}.".startswith(tuple(f"{one}." for one in packages))]


@pytest.mark.parametrize("app", LINE[: LINE.index("desk")])
def test_below_the_desk_nothing_draws_a_page(app: str) -> None:
    """The company's page is drawn too, without anything of the back office."""
    packages = BACK_OFFICE if app == "portal" else PAGES
    wrong = {
        f"{path.relative_to(ROOT)}": drawing
        for path in sources(app)
        if (drawing := pages(ast.parse(path.read_text()), packages))
    }
    assert wrong == {}


def test_a_page_below_the_desk_is_caught() -> None:
    assert pages(ast.parse("from django.contrib import admin")) == ["django.contrib.admin"]
    assert pages(ast.parse("from unfold.widgets import X")) != []


@cache
def modules() -> dict[str, Path]:
    """Every module of ours by its dotted name."""
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for app in LINE
        for path in sources(app)
    }


@cache
def own_imports() -> dict[str, set[str]]:
    """Map each of our modules to those of our modules that it imports."""
    own = modules()
    graph: dict[str, set[str]] = {}
    for name, path in own.items():
        tree = ast.parse(path.read_text())
        imported = set(imports(tree)) & set(own)
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                deeper = {f"{node.module}.{alias.name}" for alias in node.names} & set(own)
                imported |= deeper
                if deeper and len(deeper) == len(node.names):
                    imported.discard(node.module or "")
        graph[name] = imported - {name}
    return graph


def circles(graph: dict[str, set[str]]) -> set[str]:
    """Return the nodes that reach themselves."""
    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        return set(error.args[1])
    return set()


def rooms(app: str, graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """Map the files and folders directly in an app to those that each imports."""
    graph_of_rooms: dict[str, set[str]] = {}
    for name, imported in graph.items():
        parts = name.split(".")
        if parts[0] != app or len(parts) == 1:
            continue
        others = {other.split(".")[1] for other in imported if other.startswith(f"{app}.")}
        graph_of_rooms.setdefault(parts[1], set()).update(others - {parts[1]})
    return graph_of_rooms


def test_no_module_imports_itself_in_a_circle() -> None:
    assert circles(own_imports()) == set()
    assert circles({"a": {"b"}, "b": {"a"}}) == {"a", "b"}


@pytest.mark.parametrize("app", LINE)
def test_no_rooms_of_an_app_import_each_other_in_a_circle(app: str) -> None:
    assert circles(rooms(app, own_imports())) == set()


@pytest.mark.parametrize("app", LINE)
def test_each_folder_says_in_a_line_what_it_is_for(app: str) -> None:
    unsaid = [
        f"{path.relative_to(ROOT)}"
        for path in sources(app)
        if path.name == "__init__.py"
        and not {"management", "templatetags", "formats"} & set(path.parts)
        and "\n" in (ast.get_docstring(ast.parse(path.read_text())) or "\n")
    ]
    assert unsaid == []


def test_only_the_transport_and_its_resolver_talk_to_strangers() -> None:
    talkers = {
        path.relative_to(ROOT).as_posix(): sorted(libraries)
        for app in LINE
        for path in sources(app)
        if (
            libraries := {"authlib", "pycares", "pycurl", "requests", "httpx", "urllib3"}
            & {name.partition(".")[0] for name in imports(ast.parse(path.read_text()))}
        )
    }
    assert talkers == {
        "deliveries/http/name_servers.py": ["pycares"],
        "deliveries/http/proxies.py": ["pycurl"],
        "deliveries/http/transfers.py": ["pycurl"],
        "deliveries/http/transport.py": ["pycurl"],
        # The operator names the provider, so it is no stranger.
        "desk/people/sign_on/provider.py": ["authlib"],
    }


def test_files_and_functions_stay_short() -> None:
    long = []
    for app in LINE:
        for path in sources(app):
            text = path.read_text()
            name = path.relative_to(ROOT)
            if text.count("\n") > 400:
                long.append(f"{name}: {text.count(chr(10))} lines")
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.FunctionDef) and node.end_lineno - node.lineno > 50:
                    long.append(f"{name}:{node.name}")
    assert long == []


def test_every_lock_has_a_pair_of_acts() -> None:
    """Require two pairs for two locks in one place. `tests/locks.py` says how to write one."""
    for path in (ROOT / "tests").glob("*/test_lock_pairs.py"):
        import_module(f"tests.{path.parent.name}.test_lock_pairs")
    locks: Counter[str] = Counter()
    for app in LINE:
        for path in sources(app):
            locks += locks_in(str(path.relative_to(ROOT)), path.read_text())

    assert len(locks) > 50
    assert locks_without_a_pair(locks) == []


def test_a_lock_without_a_pair_is_caught() -> None:
    source = '''
"""Says FOR UPDATE, and takes no lock."""
TAKE = "SELECT 1 FOR NO KEY UPDATE SKIP LOCKED"
class Rows:
    def hold(self):
        """As FOR SHARE does."""
        return self.filter(pk=1).select_for_update(), locks.hold(1), tickets.hold(2)
def fence():
    return f"SELECT pg_advisory_xact_lock({TAG})"
'''
    locks = locks_in("app/x.py", source)

    assert locks == {"app/x.py::TAKE": 1, "app/x.py::Rows.hold": 2, "app/x.py::fence": 1}
    assert locks_without_a_pair(locks) == [
        "app/x.py::Rows.hold",
        "app/x.py::Rows.hold",
        "app/x.py::TAKE",
        "app/x.py::fence",
    ]
