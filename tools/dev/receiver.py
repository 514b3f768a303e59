"""Receiver of the demo: takes webhooks on this machine, checks their signatures, shows them.

It verifies as a company would, by code that shares nothing with the sender.
"""

import hashlib
import hmac
import json
import sys
from collections import deque
from datetime import UTC, datetime
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from typing import Any

from tools.dev import receiver_page
from tools.dev.environment import read_private

MOST_SHOWN = 500
LARGEST_BODY_BYTES = 1024 * 1024
# On start, a larger log is truncated to the deliveries that the page shows.
LARGEST_LOG_BYTES = 20 * 1024 * 1024
LOCAL_NAMES = ("127.0.0.1", "localhost")

VERIFIED, UNSIGNED, BAD = "verified", "unsigned", "bad signature"


def verdict(headers: dict[str, str], body: bytes, secrets: list[str]) -> str:
    """Check the signature against each secret: HMAC-SHA256 over `timestamp.event.body`."""
    signature = headers.get("x-webhook-signature")
    if signature is None:
        return UNSIGNED
    signed_headers = [headers.get(name, "") for name in ("x-webhook-timestamp", "x-webhook-event")]
    message = b".".join([*(text.encode() for text in signed_headers), body])
    for secret in secrets:
        digest = hmac.new(secret.encode(), message, hashlib.sha256).hexdigest()
        if hmac.compare_digest(f"v1={digest}".encode(), signature.encode()):
            return VERIFIED
    return BAD


class Inbox:
    """Deliveries: the latest in memory, all as JSON lines in the data folder."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.log = data / "received.jsonl"
        self.lock = Lock()
        lines = self.log.read_text().splitlines()[-MOST_SHOWN:] if self.log.exists() else []
        self.deliveries: deque[dict[str, Any]] = deque(map(json.loads, lines), MOST_SHOWN)
        self.count = self.deliveries[-1]["number"] if self.deliveries else 0
        if self.log.exists() and self.log.stat().st_size > LARGEST_LOG_BYTES:
            self.log.write_text("".join(f"{line}\n" for line in lines))
        self.log.touch(mode=0o600)

    def secrets(self) -> list[str]:
        """Read the secrets of the demo's webhooks; uncached, as the first run adds them."""
        webhooks = read_private(self.data / "demo.json").get("webhooks", {})
        return [webhook["secret"] for webhook in webhooks.values() if webhook.get("secret")]

    def add(self, path: str, headers: dict[str, str], body: bytes) -> None:
        """Verify, store and log a request, without its delivery token."""
        judged = verdict(headers, body, self.secrets())
        if token := headers.get("authorization"):
            headers = headers | {"authorization": f"{token.partition(' ')[0]} …{token[-4:]}"}
        with self.lock:
            self.count += 1
            delivery = {
                "number": self.count,
                "received_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
                "path": path,
                "verdict": judged,
                "headers": headers,
                "body": body.decode(errors="replace"),
            }
            self.deliveries.append(delivery)
            with self.log.open("a") as log:
                log.write(json.dumps(delivery, ensure_ascii=False) + "\n")

    def latest_first(self) -> list[dict[str, Any]]:
        with self.lock:
            return list(reversed(self.deliveries))


class Handler(BaseHTTPRequestHandler):
    """Handler of POST to any path, and of GET for the page, its list, or the list as JSON."""

    server_version = "receiver"
    sys_version = ""
    protocol_version = "HTTP/1.1"
    timeout = 30
    inbox: Inbox

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isdigit():
            self.answer(HTTPStatus.LENGTH_REQUIRED, "Content-Length is missing.\n")
        elif int(length) > LARGEST_BODY_BYTES:
            self.answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "More than 1 MiB.\n")
        else:
            body = self.rfile.read(int(length))
            headers = {name.lower(): value for name, value in self.headers.items()}
            self.inbox.add(self.path, headers, body)
            self.answer(HTTPStatus.OK, '{"received": true}\n', "application/json")

    def do_GET(self) -> None:
        # Guard against DNS rebinding: another site's name may resolve to this machine.
        if self.headers.get("Host", "").rpartition(":")[0] not in LOCAL_NAMES:
            self.answer(HTTPStatus.FORBIDDEN, "Open this page as 127.0.0.1 or localhost.\n")
        elif self.path == "/":
            self.answer_page(receiver_page.page(self.inbox.latest_first()))
        elif self.path == "/list":
            self.answer_page(receiver_page.deliveries(self.inbox.latest_first()))
        elif self.path == "/deliveries.json":
            listing = json.dumps(self.inbox.latest_first(), ensure_ascii=False, indent=2)
            self.answer(HTTPStatus.OK, listing, "application/json")
        else:
            self.answer(HTTPStatus.NOT_FOUND, "The page is at /, the data at /deliveries.json.\n")

    def answer_page(self, html: str) -> None:
        self.answer(HTTPStatus.OK, html, "text/html")

    def answer(self, status: HTTPStatus, text: str, kind: str = "text/plain") -> None:
        content = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Content-Security-Policy", receiver_page.POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        if status >= HTTPStatus.BAD_REQUEST:
            # The body was not read, and would be taken for the next request.
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Log nothing: the page shows all requests."""


class Receiver(ThreadingHTTPServer):
    """Server that binds to loopback at once, and answers once serve_forever runs."""

    # Room for many simultaneous senders.
    request_queue_size = 128

    def __init__(self, port: int, data: Path) -> None:
        super().__init__(("127.0.0.1", port), type("", (Handler,), {"inbox": Inbox(data)}))


if __name__ == "__main__":
    Receiver(int(sys.argv[1]), Path(sys.argv[2])).serve_forever()
