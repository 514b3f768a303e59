"""docs/receiving.md: its samples are those of clients/, its tables are ours."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as configured

from deliveries.api.schema import ERRORS
from deliveries.engine.rendering import API_VERSION
from shipments import statuses
from tests.clients.languages import BODY, CLIENTS, SECRET, SIGNATURE, TIMESTAMP
from tests.described import conforms
from webhooks.event_types import registry

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "receiving.md").read_text()


@pytest.mark.parametrize(
    ("language", "file"),
    [("python", "python/verify.py"), ("js", "node/verify.js"), ("php", "php/verify.php")],
)
def test_its_samples_are_those_of_the_clients(language: str, file: str) -> None:
    (sample,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)

    assert sample in (CLIENTS / file).read_text()


def test_shows_the_known_answer() -> None:
    for part in (SECRET, str(TIMESTAMP), f"\n{BODY}\n", SIGNATURE):
        assert part in PAGE


def payloads() -> list[tuple[str, Any]]:
    kinds = re.split(r"^Type \d, (?=\w)", PAGE, flags=re.MULTILINE)[1:]
    names = [re.match(r"[\w.]*\w", kind)[0] for kind in kinds]
    blocks = [re.search(r"```json\n(.*?)```", kind, re.DOTALL)[1] for kind in kinds]
    return [(name, json.loads(block)) for name, block in zip(names, blocks, strict=True)]


def test_shows_a_payload_of_every_type() -> None:
    schemas = {each.name: each.schema for each in registry}
    names = [name for name, _ in payloads()]
    assert names == list(schemas), "docs/receiving.md: a block `Type n, name` with a JSON for each"
    for name, payload in payloads():
        try:
            conforms(payload, schemas[name])
        except AssertionError as error:
            pytest.fail(f"docs/receiving.md, the payload of {name}: {error}", pytrace=False)


def test_says_what_each_error_of_an_attempt_means() -> None:
    table = PAGE.partition("| `error` | it means |")[2].partition("\n\n")[0]

    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == ERRORS


def test_names_every_status() -> None:
    listed = PAGE.replace("\n", " ")

    assert ", ".join(statuses.NAMES) in listed


def test_tells_the_waits_and_the_version_as_they_are() -> None:
    units = {"s": 1, "min": 60, "h": 3600}
    row = next(line for line in PAGE.splitlines() if line.startswith("| wait |"))
    *waits, last = [cell.strip() for cell in row.strip("|").split("|")][1:]
    seconds = [int(number) * units[unit] for number, unit in map(str.split, waits)]

    assert seconds == list(configured.DELIVERY_RETRY_SECONDS)
    assert last == "given up"
    assert f"`{API_VERSION}`" in PAGE
    assert f"`{configured.DELIVERY_USER_AGENT}`" in PAGE
