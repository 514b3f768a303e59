"""Clients that generators make from GET /schema go on when they meet new values."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.clients.tomorrow import NEW_TEXT, answers, closed
from tests.described import Operation, description

ANSWERS = list(answers())
# Values that grow: event types, conditions, references, statuses, kinds of comments, codes.
GROWING = {"type", "event", "condition", "reference", "ticket_status_name", "ticket_status_id"}
GROWING |= {"code", "reason"}

PARSE = """
import importlib, json, sys
import httpx
from generated.client import Client

client = Client(base_url="http://desk.example.com")

def parse(module, status, answer):
    response = httpx.Response(status, json=answer)
    try:
        read = importlib.import_module(module)._parse_response(client=client, response=response)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    rows = read if isinstance(read, list) else [read]
    return [row.to_dict() for row in rows] if isinstance(read, list) else read.to_dict()

print(json.dumps([parse(*case) for case in json.load(sys.stdin)]))
"""


def python_client(folder: Path, schema: dict[str, Any]) -> None:
    """Generate the package `generated` in the folder."""
    (folder / "schema.json").write_text(json.dumps(schema))
    (folder / "config.yaml").write_text("post_hooks: []\n")
    generator = Path(sys.executable).with_name("openapi-python-client")
    options = ["--path", "schema.json", "--output-path", "generated", "--meta", "none"]
    result = subprocess.run(
        [generator, "generate", *options, "--config", "config.yaml"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stdout + result.stderr


def module_of(operation: Operation) -> str:
    name = re.sub("([A-Z])", r"_\1", str(operation)).lower()
    return f"generated.api.{operation.spec['tags'][0].lower()}.{name}"


def parsed(folder: Path) -> list[Any]:
    cases = [(module_of(operation), status, answer) for operation, status, answer, _ in ANSWERS]
    ran = subprocess.run(
        [sys.executable, "-c", PARSE],
        cwd=folder,
        input=json.dumps(cases),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    read: list[Any] = json.loads(ran.stdout)
    return read


def test_python_client_reads_new_values(tmp_path: Path) -> None:
    python_client(tmp_path, description())

    read = parsed(tmp_path)

    assert {name for *_, names in ANSWERS for name in names} >= GROWING
    for (operation, status, answer, _), parsed_answer in zip(ANSWERS, read, strict=True):
        assert parsed_answer == answer, (str(operation), status)


@pytest.mark.whole
def test_client_made_from_closed_lists_would_fail(tmp_path: Path) -> None:
    """Prove that the test above notices a list that the description closes."""
    python_client(tmp_path, closed(description()))

    failed = [answer for answer in parsed(tmp_path) if isinstance(answer, str)]

    assert [answer for answer in failed if f"'{NEW_TEXT}' is not a valid" in answer]
