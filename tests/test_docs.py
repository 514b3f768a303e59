"""Every document names only what exists, and leaves out nothing that an operator may call."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from django.core.management import call_command, get_commands, load_command_class
from django.urls import Resolver404, get_resolver, resolve

from companies.api.views import CompanyView
from tools.dev.bootstrap import COMMANDS as LAUNCHER

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "clients" / "README.md"]
)
APPS = ("core", "companies", "webhooks", "deliveries", "shipments", "tickets", "portal", "desk")
# Folders in which a setting of a document may be read or set.
CODE = (*APPS, "config", "tools", "clients")
OURS = sorted(name for name, app in get_commands().items() if app in (*APPS, "config"))


def words(document: Path) -> list[str]:
    """Return texts between backticks, and lines of indented or fenced blocks."""
    text = document.read_text()
    blocks = re.findall(r"```\w*\n(.*?)```", text, re.DOTALL)
    inline = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    return [*inline, *(line for block in blocks for line in block.splitlines())]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", document.read_text())
    local = [target for target in targets if "://" not in target]

    assert [target for target in local if not (document.parent / target).exists()] == []


def anchors(document: Path) -> set[str]:
    """Return targets of links after #: `<a id>`, and headings as hosting platforms name them."""
    text = document.read_text()
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    explicit = re.findall(r'<a id="([^"]+)"></a>', text)
    return {
        *(re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings),
        *explicit,
    }


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_headings_it_links_to_exist(document: Path) -> None:
    links = re.findall(r"\]\(([^)#:]*)#([^)]+)\)", document.read_text())

    assert [
        f"{target}#{anchor}"
        for target, anchor in links
        if anchor not in anchors(document.parent / target if target else document)
    ] == []


def test_documents_that_code_names_exist() -> None:
    """Check above all the documents that `doctor` recommends."""
    citations = {
        match
        for top in (*CODE, "deploy")
        for path in (ROOT / top).rglob("*.py")
        for match in re.findall(r"\b(docs/[\w/-]+\.md)(?:#([\w-]+))?", path.read_text())
    }

    assert [path for path, _ in citations if not (ROOT / path).exists()] == []
    assert [each for each in citations if each[1] and each[1] not in anchors(ROOT / each[0])] == []
    assert ("docs/operations/runbooks.md", "crash-loop") in citations


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_files_it_names_exist(document: Path) -> None:
    files = [
        word
        for word in words(document)
        if re.fullmatch(r"[\w.-]+/[\w./-]*\.(py|md|html|jsonl|tsv)|[\w./-]+/", word)
        and not word.startswith(("/", ".dev"))
    ]
    assert [word for word in files if not (ROOT / word).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_commands_it_names_exist(document: Path) -> None:
    calls = [
        re.findall(r"(?:manage\.py|\./dev manage) ([a-z_]+)", word) for word in words(document)
    ]
    commands = {name for call in calls for name in call}

    assert commands - set(get_commands()) - {"help"} == set()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_commands_of_the_launcher_it_names_exist(document: Path) -> None:
    commands = {name for word in words(document) for name in re.findall(r"\./dev ([a-z]+)", word)}

    assert commands - {*LAUNCHER, "help"} == set()


def test_settings_the_documents_name_exist() -> None:
    """Take a name in capitals with an underscore for a variable, or a constant in code."""
    sources = [
        ROOT / "Procfile",
        ROOT / "deploy" / "backup",
        *(each for top in CODE for each in (ROOT / top).rglob("*.py")),
    ]
    names = set(re.findall(r"\b[A-Z]+(?:_[A-Z]+)+\b", "".join(map(Path.read_text, sources))))
    unknown = {
        f"{document.relative_to(ROOT)}: {word}"
        for document in DOCUMENTS
        for word in words(document)
        if re.fullmatch(r"[A-Z]+(?:_[A-Z]+)+", word) and word not in names
    }

    assert unknown == set()


@pytest.mark.parametrize("name", OURS)
def test_the_operator_s_manual_has_every_command_and_option(name: str) -> None:
    manual = (ROOT / "docs" / "operating.md").read_text()
    rows = [row for row in manual.splitlines() if row.startswith(f"| `{name}")]
    own = options_of(get_commands()[name], name) - DJANGO_S_OPTIONS
    if find_spec(f"django.core.management.commands.{name}"):
        own -= options_of("django.core", name)

    assert len(rows) == 1
    assert {option for option in own if option not in rows[0]} == set()


def options_of(app: str, name: str) -> set[str]:
    parser = load_command_class(app, name).create_parser("manage.py", name)
    options = {option for action in parser._actions for option in action.option_strings}
    return {option for option in options if option.startswith("--")}


DJANGO_S_OPTIONS = {
    "--help",
    "--version",
    "--verbosity",
    "--settings",
    "--pythonpath",
    "--traceback",
    "--no-color",
    "--force-color",
    "--skip-checks",
    # Every command of ours has it (tests/test_commands.py), as the manual says once.
    "--json",
}


def company_endpoints() -> set[str]:
    """Return methods and paths of the API, ids written as in the interface."""
    endpoints = set()
    for pattern in get_resolver().url_patterns:
        for leaf in getattr(pattern, "url_patterns", []):
            view = getattr(leaf.callback, "cls", None)
            if view is None or not issubclass(view, CompanyView):
                continue
            path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", str(leaf.pattern))
            methods = {"get", "post", "put", "delete"} & set(dir(view))
            endpoints |= {f"{method.upper()} /{path}" for method in methods}
    return endpoints


def test_the_api_s_page_has_every_endpoint() -> None:
    page = (ROOT / "docs" / "api.md").read_text()

    assert sorted(each for each in company_endpoints() if each not in page) == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_addresses_it_names_exist(document: Path) -> None:
    addresses = re.findall(r"\b(?:GET|POST|PUT|DELETE) (/[\w/{}-]*)", document.read_text())
    unknown = []
    for path in addresses:
        concrete = re.sub(r"\{delivery_id\}", "01a1fa12-91b9-736b-934f-6c5b515fd1da", path)
        try:
            resolve(re.sub(r"\{\w+\}|ID\b", "1", concrete))
        except Resolver404:
            unknown.append(path)
    assert unknown == []


def test_settings_the_manual_names_exist() -> None:
    manual = (ROOT / "docs" / "operating.md").read_text()
    rows = re.findall(r"^\| ((?:`[A-Z_]+`(?:, )?)+) \|", manual, re.MULTILINE)
    table = {name for row in rows for name in re.findall(r"[A-Z_]+", row)}
    settings = "".join(path.read_text() for path in (ROOT / "config" / "settings").glob("*.py"))
    read = set(re.findall(r'env\.\w+\(\s*"(\w+)"', settings))

    assert table == read


def variables_below(heading: str) -> list[str]:
    manual = (ROOT / "docs" / "operating.md").read_text()
    section = manual.partition(f"\n### {heading}\n")[2].partition("\n## ")[0]
    rows = re.findall(
        r"^\| ((?:`[A-Z_]+`(?:, )?)+) \|", section.partition("\n### ")[0], re.MULTILINE
    )
    return [name for row in rows for name in re.findall(r"[A-Z_]+", row)]


def test_what_an_installation_sets_is_a_table_of_its_own(tmp_path: Path) -> None:
    chosen, optional = variables_below("Set these"), variables_below("Leave these")
    settings = "".join(path.read_text() for path in (ROOT / "config" / "settings").glob("*.py"))
    needed = set(re.findall(r'env\.\w+\(\s*"(\w+)"\)', settings))
    file = tmp_path / "env"
    call_command("doctor", "--init", "--file", str(file), "--host", "desk.example.com")
    set_variables = set(re.findall(r"^([A-Z_]+)=", file.read_text(), re.MULTILINE))

    assert len(chosen) <= 20
    assert not set(chosen) & set(optional)
    # This variable is read only if it is set.
    assert needed - {"ENGINE_DATABASE_URL"} <= set(chosen)
    assert set_variables <= set(chosen)
