"""Everything that code, tests and documents cite exists: a decision, a heading of the interface.

Citations: a decision's id, such as W19; a range, such as E1 to E3; a decision without an id by its
anchor, as in `decision page api-strict-fields-live-with-companies`; `(interface, HEADING)`, where a
number after the heading is that of a point in its list; and a name in a file, such as
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
ANCHOR = re.compile(r'<a id="([\w-]+)"></a>')
ANCHOR_ID = re.compile(r"[tewn][1-9]\d?b?")
# A decision is a row of a table, or a section: its anchor, its title, and three parts.
ROW = re.compile(r'\| <a id="([\w-]+)"></a>\*\*([^*|]+)\*\*[^|]*(?:\|[^|]*\w[^|]*){2}\|')
SECTION = re.compile(
    r'^<a id="([\w-]+)"></a>\n\n### (.+)\n\n'
    r"\*\*Decided\.\*\* (?:.+\n)+\n\*\*Why\.\*\* (?:.+\n)+\n\*\*Would change it\.\*\* .",
    re.MULTILINE,
)
HEADING = re.compile(r"\(interface, ([A-Z][A-Za-z ]*[A-Za-z])(?: (\d+))?[);,]")


def files() -> Iterator[Path]:
    """Yield every text file of the project but this one, which cites missing decisions."""
    for top in sorted(ROOT.iterdir()):
        if top.name.startswith("."):
            continue
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if path.suffix in SUFFIXES and path != Path(__file__).resolve():
                yield path


def cited_as(anchor: str) -> str:
    """Return a decision's citation: its id, such as W7b, or its anchor if it has none."""
    return anchor[0].upper() + anchor[1:] if ANCHOR_ID.fullmatch(anchor) else anchor


def decisions() -> list[str]:
    """Return all citable decisions, each as often as it is written."""
    return [
        cited_as(anchor)
        for page in sorted(DECISIONS.glob("*.md"))
        for anchor in ANCHOR.findall(page.read_text())
    ]


def rows(text: str) -> list[str]:
    """Return the rows of a page's tables, without their heads."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [line for line in lines if not line.startswith(("| decided |", "|---"))]


def decided(text: str) -> list[str]:
    """Return the citations of complete decisions, whose titles begin with an id if there is one."""
    whole = [(match.start(), *match.groups()) for match in SECTION.finditer(text)]
    for row in rows(text):
        if match := ROW.fullmatch(row):
            whole.append((text.index(row), *match.groups()))
    return [
        anchor
        for _, anchor, title in sorted(whole)
        if not ANCHOR_ID.fullmatch(anchor) or title.startswith(f"{cited_as(anchor)} ")
    ]


def headings() -> dict[str, set[str]]:
    """Return the interface's headings, and the numbers of the points listed below each."""
    sections = re.split(r"^#{2,} (.+)$", INTERFACE.read_text(), flags=re.MULTILINE)[1:]
    return {
        heading: set(re.findall(r"^(\d+)\. ", text, re.MULTILINE))
        for heading, text in zip(sections[::2], sections[1::2], strict=True)
    }


def defines(path: str, name: str) -> bool:
    """Return whether the module has a function, a class, a method or a constant of this name."""
    module = ROOT / path
    definition = rf"^\s*(?:def|class) {name}\b|^{name}\b.* = "
    return module.is_file() and bool(re.search(definition, module.read_text(), re.MULTILINE))


def dangling(text: str) -> list[str]:
    """Return the citations in a text that lead nowhere."""
    # A citation may be wrapped at the end of a line, also in a comment.
    text = re.sub(r"\s*\n\s*(?:#|//|\*)?\s*", " ", text)
    ids = [letter + number for letter, number in ID.findall(text)]
    for letter, first, last in RANGE.findall(text):
        ids += [f"{letter}{number}" for number in range(int(first), int(last) + 1)]
    cited = {*ids, *PAGE.findall(text)}
    lost = sorted(f"decision {each}" for each in cited.difference(decisions()))
    points = headings()
    for heading, number in HEADING.findall(text):
        if heading not in points or (number and number not in points[heading]):
            lost.append(f"interface, {heading} {number}".rstrip())
    lost += [f"{path}:{name}" for path, name in NAME.findall(text) if not defines(path, name)]
    return lost


def test_every_citation_leads_somewhere() -> None:
    lost = {
        path.relative_to(ROOT).as_posix(): broken
        for path in files()
        if (broken := dangling(path.read_text(errors="replace")))
    }

    assert lost == {}, "write the decision into docs/decisions/, or mend the citation"


def test_it_reads_code_tests_documents_templates_and_scripts() -> None:
    read = {path.relative_to(ROOT).as_posix() for path in files()}

    assert read >= {
        "companies/tokens.py",
        "desk/static/desk/ticket.js",
        "docs/api.md",
        "docs/decisions/tickets.md",
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
def test_broken_citation_is_reported(text: str, lost: list[str]) -> None:
    assert dangling(text) == lost


def test_no_decision_is_written_twice() -> None:
    cited = decisions()

    assert sorted(cited) == sorted(set(cited))


PAGES = sorted(DECISIONS.glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_each_decision_has_an_anchor_a_title_a_reason_and_what_would_change_it(page: Path) -> None:
    text = page.read_text()

    assert decided(text) == ANCHOR.findall(text)
    assert len(decided(text)) == len(rows(text)) + text.count("\n### ")


@pytest.mark.parametrize(
    "row",
    [
        "| **T1 No anchor.** Text. | Why. | What. |",
        '| <a id="t1"></a>**T2 Another id.** Text. | Why. | What. |',
        '| <a id="t1"></a>No title. | Why. | What. |',
        '| <a id="t1"></a>**T1 No reason.** Text. |  | What. |',
        '| <a id="t1"></a>**T1 Two cells.** Text. | Why. |',
        '<a id="t1"></a>\n\n### T2 Another id\n\n'
        "**Decided.** A.\n\n**Why.** B.\n\n**Would change it.** C.\n",
        '<a id="t1"></a>\n\n### T1 No reason\n\n**Decided.** A.\n\n**Would change it.** C.\n',
    ],
)
def test_incomplete_row_is_no_decision(row: str) -> None:
    assert decided(row) == []
