"""docs/receiving.md: its samples verify what we send and nothing else, its tables are ours."""

import base64
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.conf import settings as configured

from companies.models import Company
from deliveries import publishing
from deliveries.engine.rendering import API_VERSION
from faults.receiver import Receiver
from shipments import statuses
from tests import builders as build
from tests.described import conforms
from tests.programs import program
from tests.sending import deliver
from webhooks.event_types import registry
from webhooks.targets import Policy

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "receiving.md").read_text()

SECRET = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0"
TIMESTAMP = 1767312000123
BODY = (
    '{"type":"tracking.simple","created_at":"2026-01-02T00:00:00.000Z","data":{"shipment_id":4101,'
    '"tracking_number":"TEST0004101","carrier_name":"acme","status":"delivered",'
    '"status_description":"Left at door","location":"León, MX"}}'
)
SIGNATURE = "v1=97c534940c81f2266668b398d93cbdd8838ad72e71269f51c92615c838a0ccc8"
HEADERS = {
    "X-Webhook-Event": "tracking.simple",
    "X-Webhook-Timestamp": str(TIMESTAMP),
    "X-Webhook-Signature": SIGNATURE,
}
A_MINUTE = 60_000


class Sample(NamedTuple):
    """A language: its interpreter, its block in the page, and what reads a question for it."""

    language: str
    program: str
    option: str
    driver: str


SAMPLES = [
    Sample(
        "python",
        "python3",
        "-c",
        """
import base64, json, sys
told = json.load(sys.stdin)
body = base64.b64decode(told["body"])
print(json.dumps(verify(told["secret"], told["headers"], body, *told["now"])))
""",
    ),
    Sample(
        "js",
        "node",
        "-e",
        """
const told = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
const headers = Object.fromEntries(
  Object.entries(told.headers).map(([name, value]) => [name.toLowerCase(), value]));
const body = Buffer.from(told.body, "base64");
console.log(JSON.stringify(verify(told.secret, headers, body, ...told.now)));
""",
    ),
    Sample(
        "php",
        "php",
        "-r",
        """
$told = json_decode(file_get_contents('php://stdin'), true);
$body = base64_decode($told['body']);
echo json_encode(verify($told['secret'], $told['headers'], $body, ...$told['now']));
""",
    ),
]


def verdict(
    sample: Sample, secret: str, headers: dict[str, str], body: bytes, *now_ms: int
) -> bool:
    """What the page's own code says, by its own clock unless `now_ms` is given."""
    interpreter = sys.executable if sample.program == "python3" else program(sample.program)
    (code,) = re.findall(rf"```{sample.language}\n(.*?)```", PAGE, re.DOTALL)
    told = {"secret": secret, "headers": headers, "now": now_ms}
    ran = subprocess.run(
        [interpreter, sample.option, code + sample.driver],
        input=json.dumps({**told, "body": base64.b64encode(body).decode()}),
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    return json.loads(ran.stdout)


@pytest.fixture(params=SAMPLES, ids=lambda sample: sample.language)
def sample(request: pytest.FixtureRequest) -> Sample:
    return request.param


def test_samples_accept_the_known_answer(sample: Sample) -> None:
    for late in (0, 4 * A_MINUTE, -4 * A_MINUTE):
        assert verdict(sample, SECRET, HEADERS, BODY.encode(), TIMESTAMP + late) is True


@pytest.mark.parametrize(
    ("changes", "body", "secret"),
    [
        ({}, BODY.replace("4101", "4102"), SECRET),
        ({}, BODY + " ", SECRET),
        ({}, BODY.encode("utf-8").decode("latin-1"), SECRET),
        ({}, BODY, SECRET.upper()),
        ({"X-Webhook-Timestamp": str(TIMESTAMP + 1)}, BODY, SECRET),
        ({"X-Webhook-Event": "surcharge"}, BODY, SECRET),
        ({"X-Webhook-Signature": SIGNATURE[:-1]}, BODY, SECRET),
        ({"X-Webhook-Signature": SIGNATURE[:-1] + "9"}, BODY, SECRET),
        ({"X-Webhook-Signature": "v1=é"}, BODY, SECRET),
        ({"X-Webhook-Signature": ""}, BODY, SECRET),
        (None, BODY, SECRET),
    ],
)
def test_samples_refuse_what_was_tampered_with(
    sample: Sample, changes: dict[str, str] | None, body: str, secret: str
) -> None:
    headers = {} if changes is None else HEADERS | changes

    assert verdict(sample, secret, headers, body.encode(), TIMESTAMP) is False


def test_samples_refuse_what_is_old_or_from_the_future(sample: Sample) -> None:
    for late in (6 * A_MINUTE, -6 * A_MINUTE):
        assert verdict(sample, SECRET, HEADERS, BODY.encode(), TIMESTAMP + late) is False


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


def test_samples_accept_what_is_delivered_now(
    sample: Sample, company: Company, receiver: Receiver, loopback: Policy
) -> None:
    webhook = build.webhook(company, url=receiver.url)
    publishing.publish([build.news(company, body=BODY.encode())])

    deliver(loopback)

    (received,) = receiver.log
    headers = {name: received.headers[name] for name in HEADERS}
    assert verdict(sample, webhook.secret, headers, received.body) is True
    assert verdict(sample, webhook.secret, headers, received.body + b" ") is False


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
    assert [name for name, _ in payloads()] == list(schemas)
    for name, payload in payloads():
        conforms(payload, schemas[name])


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
