"""Compare the page of the feed's format with the parser."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from companies.models import Company
from shipments.feed import parsing
from shipments.feed.parsing import KINDS, BadLine
from tests import builders as build
from tests.shipments.feeding import ingest

PAGE = (Path(__file__).parents[2] / "docs" / "operations" / "feed.md").read_text()
FIELD = re.compile(r"^\| `(\w+)` \| (required)? *\| (.+) \|$", re.MULTILINE)
LARGEST = 2**63 - 1


def section(kind: str) -> str:
    return PAGE.partition(f"\n## {kind}\n")[2].partition("\n## ")[0]


def example(kind: str) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(re.findall(r"```json\n(.*?)```", section(kind), re.S)[0])
    return parsed


def rows() -> list[tuple[str, str, str]]:
    return [
        (kind, name, value) for kind in KINDS for name, _, value in FIELD.findall(section(kind))
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_the_table_of_a_kind_has_its_fields(kind: str) -> None:
    fields = FIELD.findall(section(kind))

    assert {name for name, _, _ in fields} | {"kind"} == set(KINDS[kind].readers)
    assert {name for name, required, _ in fields if required} == set(KINDS[kind].required)


@pytest.mark.parametrize("kind", KINDS)
def test_the_example_of_a_kind_is_read(kind: str) -> None:
    assert parsing.parse(example(kind))
    required = {name: example(kind)[name] for name in ("kind", *KINDS[kind].required)}
    assert parsing.parse(required)


def good_and_bad(value: str) -> tuple[list[Any], list[Any]]:
    """Return values at the limits that a row names, and beyond them."""
    if match := re.match(r"text of (\d) to (\d+) characters", value):
        least, most = int(match[1]), int(match[2])
        return ["x" * least, "x" * most], ["x" * (most + 1), 7, *([] if least == 0 else [" "])]
    if value.startswith("integer from 1 to 2^63-1"):
        return [1, LARGEST], [0, LARGEST + 1, "1", 1.0, True]
    if value.startswith("number above 0"):
        return [0.0001, 1, 9999999999], [0, 10**10, 0.00001, "1"]
    if value == "time":
        good = ["2000-01-01T00:00:00Z", "2026-01-02T15:04"]
        return good, ["1999-12-31T23:59:59Z", "9999-01-01T00:00Z", "2026-01-02", 1]
    if value == "`true` or `false`":
        return [True, False], ["true", 1]
    if value == "`surcharge` or `refund`":
        return ["surcharge", "refund"], ["other", 1]
    if value.startswith("three capital letters"):
        return ["MXN", "JPY"], ["mxn", "MXNN", "MXM", 1]
    names = re.findall(r"`(\w+)`", value)
    whole = dict.fromkeys(names)
    (longest,) = map(int, re.findall(r"at most (\d+)", value))
    first = names[0]
    return (
        [whole, {**whole, first: 7}, {**whole, first: "x" * longest}],
        [{}, {**whole, "more": 1}, {**whole, first: "x" * (longest + 1)}, {**whole, first: 1.5}],
    )


@pytest.mark.parametrize(("kind", "name", "value"), rows(), ids=str)
def test_the_limits_of_a_field_are_the_parser_s(kind: str, name: str, value: str) -> None:
    good, bad = good_and_bad(value)
    for each in good:
        assert parsing.parse({**example(kind), name: each})
    for each in bad:
        with pytest.raises(BadLine, match=name):
            parsing.parse({**example(kind), name: each})


def test_bad_lines_have_the_reasons_of_the_page(company: Company, tmp_path: Path) -> None:
    build.shipment(company)
    file = tmp_path / "feed.jsonl"
    table = PAGE.partition("\n## Bad lines\n")[2]
    examples = re.findall(r"^\| `([\[{].*)` \| (.+) \|$", table, re.MULTILINE)
    assert len(examples) == 10

    file.write_text("".join(f"{line}\n" for line, _ in examples))

    assert ingest(file).reasons == [
        f"line {number}: {reason}" for number, (_, reason) in enumerate(examples, start=1)
    ]
