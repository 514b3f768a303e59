"""Whatever code, tests and documents cite exists: a decision's page, a heading of the interface.

Cited are: an id, such as W19; a range, such as E1 to E3; a page by the name of its file, as in
`decision page api-strict-fields-live-with-companies`; `(interface, HEADING)`, where a number
behind the heading is that of a point in its list; and a name in a file, such as
`companies/tokens.py:make_token`.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DECISIONS = ROOT / "docs" / "decisions"
INTERFACE = ROOT / "docs" / "interface.md"
SUFFIXES = {".py", ".md", ".html", ".js", ".css", ".toml", ".in", ".yaml", ".yml"}

ID = re.compile(r"(?<![\w.-])([TWEN])([1-9]\d?b?)(?![\w-])")
RANGE = re.compile(r"(?<![\w.-])([TWEN])([1-9]\d?) to \1([1-9]\d?)(?![\w-])")
PAGE = re.compile(r"\bdecision page ([\w-]+)")
NAME = re.compile(r"`([\w/]+\.py):([A-Za-z_]\w*)`")
PARAGRAPH = re.compile(r"^\*\*([^*]+)\*\*", re.MULTILINE)
PARAGRAPHS = ["Left open:", "Decided:", "Why:", "Would change it:", "Lives in:"]
HEADING = re.compile(r"\(interface, ([A-Z][A-Za-z ]*[A-Za-z])(?: (\d+))?[);,]")


def files() -> Iterator[Path]:
    """Every text file of the project but this one, which cites what does not exist."""
    for top in sorted(ROOT.iterdir()):
        if top.name.startswith("."):
            continue
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if path.suffix in SUFFIXES and path != Path(__file__).resolve():
                yield path


def pages() -> set[str]:
    """What a page may be cited by: its file's name, and the id that the name begins with."""
    found = set()
    for path in DECISIONS.glob("*.md"):
        found.add(path.stem)
        if match := re.match(r"([tewn])0*(\d+b?)-", path.stem):
            found.add(match[1].upper() + match[2])
    return found


def headings() -> dict[str, set[str]]:
    """The interface's headings, and the numbers of the points listed below each."""
    sections = re.split(r"^#{2,} (.+)$", INTERFACE.read_text(), flags=re.MULTILINE)[1:]
    return {
        heading: set(re.findall(r"^(\d+)\. ", text, re.MULTILINE))
        for heading, text in zip(sections[::2], sections[1::2], strict=True)
    }


def defines(path: str, name: str) -> bool:
    """Whether the module has a function, a class, a method or a constant of this name."""
    module = ROOT / path
    definition = rf"^\s*(?:def|class) {name}\b|^{name}\b.* = "
    return module.is_file() and bool(re.search(definition, module.read_text(), re.MULTILINE))


def dangling(text: str) -> list[str]:
    """The citations in a text that lead nowhere."""
    # A citation may run over the end of a line, of a comment too.
    text = re.sub(r"\s*\n\s*(?:#|//|\*)?\s*", " ", text)
    ids = [letter + number for letter, number in ID.findall(text)]
    for letter, first, last in RANGE.findall(text):
        ids += [f"{letter}{number}" for number in range(int(first), int(last) + 1)]
    cited, existing = {*ids, *PAGE.findall(text)}, pages()
    lost = sorted(f"decision {each}" for each in cited - existing)
    points = headings()
    for heading, number in HEADING.findall(text):
        if heading not in points or (number and number not in points[heading]):
            lost.append(f"interface, {heading} {number}".rstrip())
    lost += [f"{path}:{name}" for path, name in NAME.findall(text) if not defines(path, name)]
    return lost


def test_every_citation_leads_somewhere() -> None:
    lost = {
        path.relative_to(ROOT).as_posix(): found
        for path in files()
        if (found := dangling(path.read_text(errors="replace")))
    }

    assert lost == {}, "write the page in docs/decisions/, or mend the citation"


def test_it_reads_code_tests_documents_templates_and_scripts() -> None:
    read = {path.relative_to(ROOT).as_posix() for path in files()}

    assert read >= {
        "companies/tokens.py",
        "desk/static/desk/ticket.js",
        "docs/api.md",
        "docs/decisions/t01-accepted-is-2-and-declined-is-3.md",
        "README.md",
        "templates/404.html",
        "tests/tickets/test_rules.py",
    }


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ("as before (decision W19)", []),
        ("as before (decision W99)", ["decision W99"]),
        ("(decisions E3, E88 and\n    # E9)", ["decision E88"]),
        ("W7b and T18, not T18b", ["decision T18b"]),
        ("decisions W24 to W26", ["decision W26"]),
        ("decisions W24\n    # to W26", ["decision W26"]),
        ("see decision page 0007", ["decision 0007"]),
        ("decision page\nengine-celery-is-the-doorbell.", []),
        ("(interface, Delivery headers)", []),
        ("(interface, Authentication 3; decision W9)", []),
        ("(interface, Authentication 9)", ["interface, Authentication 9"]),
        ("(interface, Delivery\n    # footers)", ["interface, Delivery footers"]),
        ("`companies/tokens.py:make_token`", []),
        ("`companies/tokens.py:PREFIX_LENGTH`", []),
        ("`companies/api/views.py:Conflict`", []),
        ("`companies/tokens.py:token`", ["companies/tokens.py:token"]),
        ("`companies/coins.py:make_token`", ["companies/coins.py:make_token"]),
        ("2026-W19-1, F401, config.E005 and N801 are no decisions", []),
    ],
)
def test_what_leads_nowhere_is_found(text: str, lost: list[str]) -> None:
    assert dangling(text) == lost


@pytest.mark.parametrize("page", sorted(DECISIONS.glob("*.md")), ids=lambda page: page.stem)
def test_a_page_has_its_five_paragraphs(page: Path) -> None:
    found = [each for each in PARAGRAPH.findall(page.read_text()) if each in PARAGRAPHS]

    assert found == PARAGRAPHS


def test_one_page_per_decision() -> None:
    ids = re.findall(r"^([tewn]\d+b?)-", "\n".join(path.name for path in DECISIONS.iterdir()), re.M)

    assert sorted(ids) == sorted(set(ids))
