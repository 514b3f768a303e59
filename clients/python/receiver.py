"""A receiver of webhooks to start from: it verifies, stores, answers, and only then works.

    WEBHOOK_SECRET=... python3 receiver.py [PORT]

Python 3.8 or newer, standard library only; needs verify.py in the same folder. WEBHOOK_SECRET may
hold several secrets, separated by spaces: of several webhooks, or the old and the new one while you
rotate. Events are stored in received.db, or in the file that WEBHOOK_STORE names.
"""

import json
import os
import sqlite3
import sys
import threading
import time
import traceback
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Dict, Optional, Tuple

from verify import verify

SECRETS = os.environ.get("WEBHOOK_SECRET", "").split()
LARGEST_BODY = 1024 * 1024
TABLES = """
CREATE TABLE IF NOT EXISTS event (
    number INTEGER PRIMARY KEY, id TEXT UNIQUE, sequence INTEGER, body TEXT, done INTEGER DEFAULT 0
);
CREATE TABLE IF NOT EXISTS highest (topic TEXT PRIMARY KEY, sequence INTEGER);
"""
STATUS_TYPES = ("tracking.simple", "ecommerceTracking")


def work(event: Dict[str, Any], subject: str, late: bool) -> None:
    """Handle an event: your code. `late`: a newer one of its type and subject came before it.

    Book a late surcharge, but do not let a late status replace a newer one.
    """
    status = event["data"].get("status", "")
    say(f"{'late' if late else 'verified'} {event['type']} {subject} {status}")


class Inbox:
    """Store of events in a file, so that a restart loses nothing that was answered with 2xx."""

    def __init__(self, file: str) -> None:
        self.changed = threading.Condition()
        self.database = sqlite3.connect(file, check_same_thread=False)
        self.database.executescript(TABLES)

    def add(self, id: str, sequence: int, body: str) -> bool:
        """Store a delivery; return False for a repeat. Ids older than a month may be deleted."""
        with self.changed, self.database:
            row = (id, sequence, body)
            insert = "INSERT OR IGNORE INTO event (id, sequence, body) VALUES (?, ?, ?)"
            is_new = self.database.execute(insert, row).rowcount == 1
            self.changed.notify()
        return is_new

    def work_off(self) -> None:
        """Work on stored events forever, one by one in the order of arrival."""
        while True:
            number, sequence, body = self.wait_for_one()
            event = json.loads(body)
            subject = subject_of(event)
            late = self.is_late(topic_of(event), sequence)
            try:
                work(event, subject, late)
            except Exception:
                # The event stays first in line: later ones may depend on it.
                traceback.print_exc()
                time.sleep(5)
                continue
            with self.changed, self.database:
                self.database.execute("UPDATE event SET done = 1 WHERE number = ?", (number,))

    def wait_for_one(self) -> Tuple[int, int, str]:
        query = "SELECT number, sequence, body FROM event WHERE NOT done ORDER BY number LIMIT 1"
        with self.changed:
            while True:
                row: Optional[Tuple[int, int, str]] = self.database.execute(query).fetchone()
                if row:
                    return row
                self.changed.wait()

    def is_late(self, topic: str, sequence: int) -> bool:
        """Return True if a higher sequence came before; else store this one as the highest."""
        with self.changed, self.database:
            query = "SELECT 1 FROM highest WHERE topic = ? AND sequence > ?"
            if self.database.execute(query, (topic, sequence)).fetchone():
                return True
            row = (topic, sequence)
            self.database.execute("INSERT OR REPLACE INTO highest VALUES (?, ?)", row)
            return False


def subject_of(event: Dict[str, Any]) -> str:
    """Return the ticket, else the shipment, that the sequence counts for."""
    data = event["data"]
    kind = "ticket" if "ticket_id" in data else "shipment"
    return f"{kind} {data.get(kind + '_id')}"


def topic_of(event: Dict[str, Any]) -> str:
    """Return the topic within which sequences are compared: same subject, same type.

    Webhooks do not wait for each other: a status may come after a newer surcharge and still be
    the newest status. Types 3 and 4 report the same statuses, so they count together.
    """
    kind = "status" if event["type"] in STATUS_TYPES else event["type"]
    return f"{kind} of {subject_of(event)}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    inbox: Inbox

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        if length > LARGEST_BODY:
            self.close_connection = True
            return self.answer(413, "too large")
        body = self.rfile.read(length)
        headers = dict(self.headers)
        if not any(verify(secret, headers, body) for secret in SECRETS):
            say("refused: the signature is wrong or old")
            return self.answer(401, "bad signature")
        if "X-Webhook-Test" in headers:
            say("tested: the signature is good, and nothing has happened")
            return self.answer(200, "ok")
        id, sequence = self.headers["X-Webhook-Id"], int(self.headers["X-Webhook-Sequence"])
        if not self.inbox.add(id, sequence, body.decode()):
            say(f"repeated {id}")
        return self.answer(200, "ok")

    def answer(self, status: int, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Log nothing: work() prints each event."""


def say(text: str) -> None:
    print(text, flush=True)


def main() -> None:
    if not SECRETS:
        sys.exit("Set WEBHOOK_SECRET to what POST /webhooks answered as secret, or listen shows.")
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    Handler.inbox = Inbox(os.environ.get("WEBHOOK_STORE", "received.db"))
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    say(f"receiving at http://127.0.0.1:{server.server_port}")
    threading.Thread(target=Handler.inbox.work_off, daemon=True).start()
    server.serve_forever()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
