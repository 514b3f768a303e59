import json
import stat
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
import requests

from tools.dev.environment import write_private
from tools.dev.receiver import Receiver

# The known answer of decision W10, and variations of it.
SECRET = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0"
BODY = (
    '{"type":"tracking.simple","created_at":"2026-01-02T00:00:00.000Z","data":{"shipment_id":4101,'
    '"tracking_number":"TEST0004101","carrier_name":"acme","status":"delivered",'
    '"status_description":"Left at door","location":"León, MX"}}'
).encode()
SIGNED = {
    "X-Webhook-Event": "tracking.simple",
    "X-Webhook-Timestamp": "1767312000123",
    "X-Webhook-Signature": "v1=97c534940c81f2266668b398d93cbdd8838ad72e71269f51c92615c838a0ccc8",
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    webhooks = {"1": {"id": 1, "secret": ""}, "3": {"id": 2, "secret": SECRET}}
    write_private(tmp_path / "demo.json", {"webhooks": webhooks})
    return tmp_path


@pytest.fixture
def receiver(data: Path) -> Iterator[str]:
    with Receiver(0, data) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def post(receiver: str, headers: dict[str, str], body: bytes = BODY) -> None:
    answer = requests.post(f"{receiver}/tracking", body, headers=headers, timeout=120)
    assert answer.status_code == 200


def received(receiver: str) -> list[dict]:
    return requests.get(f"{receiver}/deliveries.json", timeout=120).json()


def test_verifies_the_known_answer(receiver: str) -> None:
    post(receiver, SIGNED)

    [delivery] = received(receiver)
    assert delivery["verdict"] == "verified"
    assert delivery["path"] == "/tracking"
    assert delivery["body"].encode() == BODY
    assert delivery["headers"]["x-webhook-event"] == "tracking.simple"


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        (SIGNED, BODY.replace(b"delivered", b"returned")),
        (SIGNED | {"X-Webhook-Timestamp": "1767312000124"}, BODY),
        (SIGNED | {"X-Webhook-Event": "surcharge"}, BODY),
        (SIGNED | {"X-Webhook-Signature": SIGNED["X-Webhook-Signature"].upper()}, BODY),
        (SIGNED | {"X-Webhook-Signature": ""}, BODY),
    ],
    ids=["body", "timestamp", "event", "upper case", "empty"],
)
def test_marks_a_bad_signature(receiver: str, headers: dict[str, str], body: bytes) -> None:
    post(receiver, headers, body)

    assert received(receiver)[0]["verdict"] == "bad signature"
    assert "✗ bad signature" in requests.get(receiver, timeout=120).content.decode()


def test_marks_what_is_not_signed(receiver: str) -> None:
    post(receiver, {})

    assert received(receiver)[0]["verdict"] == "unsigned"


def test_a_webhook_without_a_secret_verifies_nothing(data: Path, receiver: str) -> None:
    write_private(data / "demo.json", {"webhooks": {"1": {"id": 1, "secret": ""}}})

    post(receiver, SIGNED)

    assert received(receiver)[0]["verdict"] == "bad signature"


def test_shows_the_newest_first_and_everything_escaped(receiver: str) -> None:
    post(receiver, {"X-Webhook-Event": "earlier"}, b"1")
    post(receiver, {"X-Webhook-Event": "<b>&"}, b'{"a": "<script>alert(1)</script>"}')

    page = requests.get(receiver, timeout=120)

    assert "<script>alert" not in page.text
    assert "<b>&" not in page.text
    assert page.text.index("&lt;b&gt;&amp;") < page.text.index("earlier")
    assert "&lt;script&gt;alert(1)" in page.text
    assert "script-src 'sha256-" in page.headers["Content-Security-Policy"]


def test_keeps_the_end_of_a_delivery_token_only(data: Path, receiver: str) -> None:
    post(receiver, {"Authorization": "Bearer the-delivery-token"})

    assert received(receiver)[0]["headers"]["authorization"] == "Bearer …oken"
    assert "the-delivery-token" not in (data / "received.jsonl").read_text()


def test_writes_everything_down_and_remembers_the_last_five_hundred(data: Path) -> None:
    lines = [
        {"number": n, "received_at": "2026-01-02T00:00:00.000+00:00", "path": "/", "body": "{}"}
        | {"verdict": "unsigned", "headers": {}}
        for n in range(1, 602)
    ]
    log = data / "received.jsonl"
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))

    with Receiver(0, data) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        address = f"http://127.0.0.1:{server.server_port}"
        post(address, SIGNED)
        rows = received(address)
        server.shutdown()

    assert [delivery["number"] for delivery in rows] == list(range(602, 102, -1))
    assert len(log.read_text().splitlines()) == 602


def test_its_log_is_for_our_eyes_only(data: Path, receiver: str) -> None:
    assert stat.S_IMODE((data / "received.jsonl").stat().st_mode) == 0o600


def test_answers_to_no_name_but_its_own(receiver: str) -> None:
    elsewhere = requests.get(receiver, headers={"Host": "evil.example:8100"}, timeout=120)

    assert elsewhere.status_code == 403
