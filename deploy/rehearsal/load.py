"""Load for a rehearsal: call the service as a company and the platform, and receive its webhooks.

Started by `deploy/rehearse`. `load.py receive` notes the id of each request in FOLDER/received.
`load.py call` sends lines of the feed and GETs through nginx until FOLDER/stop exists; then waits
until each event has arrived, and prints counts.
"""

import json
import os
import ssl
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

RECEIVER, HOST, FOLDER = (os.environ[name] for name in ("RECEIVER", "HOST", "FOLDER"))
STATUSES = ("Picked Up", "Shipped", "Out for Delivery", "Delivered")
answers: Counter[str] = Counter()
event_count = 0


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        # Refuse for a moment when the rehearsal needs deliveries in progress.
        refuses = Path(FOLDER, "refuse").exists()
        if not refuses:
            with open(f"{FOLDER}/received", "a") as file:
                file.write(f"{self.headers['X-Webhook-Id']}\n")
        self.send_response(503 if refuses else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args: object) -> None:
        pass


def receive() -> None:
    server = ThreadingHTTPServer((RECEIVER, 8443), Receiver)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{FOLDER}/receiver.pem", f"{FOLDER}/receiver.key")
    server.socket = context.wrap_socket(
        server.socket, server_side=True, do_handshake_on_connect=False
    )
    server.serve_forever()


def call(path: str, token: str, body: bytes | None = None) -> bytes:
    request = urllib.request.Request(f"https://{HOST}{path}", body)
    request.add_header("Authorization", f"Bearer {token}")
    request.add_header("Content-Type", "application/x-ndjson" if body else "application/json")
    context = ssl.create_default_context(cafile="/etc/parceldesk/tls/fullchain.pem")
    try:
        with urllib.request.urlopen(request, timeout=60, context=context) as answer:  # noqa: S310 - https, above
            content: bytes = answer.read()
            answers[f"{request.get_method()} {path} {answer.status}"] += 1
            return content
    except urllib.error.HTTPError as error:
        answers[f"{request.get_method()} {path} {error.code}"] += 1
    except OSError as error:
        answers[f"{request.get_method()} {path} {error}"] += 1
    return b""


def feed() -> None:
    """Send batches with one update of each of ten shipments; retry until each is recorded."""
    global event_count
    round_number = int(time.time())
    while not Path(FOLDER, "stop").exists():
        round_number += 1
        lines = [
            {
                "kind": "tracking",
                "shipment_id": number,
                "status": STATUSES[round_number % 4],
                "location": str(round_number),
            }
            for number in range(1, 11)
        ]
        body = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
        while not (answer := call("/platform/feed", os.environ["PLATFORM_TOKEN"], body)):
            time.sleep(0.2)
        event_count += json.loads(answer)["events"]
        time.sleep(0.1)


def look() -> None:
    while not Path(FOLDER, "stop").exists():
        call("/webhooks", os.environ["TOKEN"])
        time.sleep(0.02)


def call_until_received() -> None:
    earlier = Counter(Path(FOLDER, "received").read_text().split())
    threads = [threading.Thread(target=each) for each in (feed, look)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    deadline = time.monotonic() + 120
    received: Counter[str] = Counter()
    while len(received) < event_count and time.monotonic() < deadline:
        time.sleep(0.5)
        received = Counter(Path(FOLDER, "received").read_text().split()) - earlier
    for answer, times in sorted(answers.items()):
        print(f"{times:6}  {answer}")
    repeats = sum(received.values()) - len(received)
    lost = event_count - len(received)
    print(f"events {event_count}, received {len(received)}, lost {lost}, repeats {repeats}")


{"receive": receive, "call": call_until_received}[sys.argv[1]]()
