"""The web process's gunicorn worker: clients get JSON and get to read it, whatever they sent."""

import json
import os
import socket
import time
from contextlib import suppress
from typing import Any

from gunicorn import util
from gunicorn.workers.gthread import ThreadWorker

from config import database
from config.startup import refuse_unsafe_settings

# Most clients send all of a body before they read the answer. What is left of one that nobody
# wanted is thrown away for so long, unless nothing comes: closing at once would reset the
# connection, and they would never see why.
LONGEST_READ_SECONDS = 5.0
IDLE_SECONDS = 0.5
# A client is told of a database that hangs while it still waits.
PATIENCE_SECONDS = 10.0


def write_error(sock: socket.socket, status_int: int, reason: str, mesg: str) -> None:
    """Answer what is not well-formed HTTP, and so never reaches Django (decision E3)."""
    status = status_int
    if status == 501:
        # A transfer coding that nobody knows: what is wrong with a request is a 400 here.
        status = 400
    body = json.dumps({"statusCode": status, "error": reason, "message": mesg or reason})
    head = (
        f"HTTP/1.1 {status} {reason}\r\n"
        "Connection: close\r\n"
        "Content-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    util.write_nonblock(sock, (head + body).encode("ascii"))


# The one place where gunicorn makes its page; which status goes with which fault stays its own.
util.write_error = write_error


class Worker(ThreadWorker):
    @classmethod
    def setup(cls) -> None:
        """Called by gunicorn before it forks: what is refused here is said once."""
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        refuse_unsafe_settings()
        database.wait_at_most(PATIENCE_SECONDS)

    def handle_request(self, req: Any, conn: Any) -> bool:
        """Answer; returns whether the connection may be used again."""
        keepalive = super().handle_request(req, conn)
        deadline = time.monotonic() + LONGEST_READ_SECONDS
        if conn.parser.finish_body(deadline=deadline):
            return bool(keepalive)
        # That much was not read: what remains is not worth parsing.
        conn.sock.settimeout(IDLE_SECONDS)
        with suppress(OSError):
            while time.monotonic() < deadline and conn.sock.recv(1024 * 1024):
                pass
        return False
