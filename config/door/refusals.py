"""What is answered without the application: to what is not HTTP, and to what is too much."""

import json
from typing import Any

from django.conf import settings
from gunicorn import util

from config.error_bodies import body
from core.measures import catalogue, counting
from core.watch import request_ids
from core.watch.log_bound import REFUSALS

# Worth another try, after so many seconds.
PASSING = {429: "Retry-After: 5\r\n", 503: "Retry-After: 5\r\n"}


def given_id(request: Any) -> str:
    """The id that a client has given its request, as far as its head was read."""
    headers: dict[str, str] = dict(request.headers) if request is not None else {}
    return headers.get(request_ids.HEADER.upper(), "")


def write_error(sock: Any, status_int: int, reason: str, mesg: str, request: Any = None) -> None:
    """Answer what never reaches Django (decision E3); the connection is closed behind it."""
    status = status_int
    if status == 501:
        # A transfer coding that nobody knows: what is wrong with a request is a 400 here.
        status = 400
    counting.count(catalogue.DOOR_REFUSALS, str(status))
    text = json.dumps(body(request.path if request else "", status, mesg or reason))
    # Gunicorn names no request; its worker has set the one at work.
    request_id = request_ids.accepted(given_id(request)) or request_ids.current()
    request_id = request_id or request_ids.new()
    head = (
        f"HTTP/1.1 {status} {reason}\r\n"
        f"{PASSING.get(status, '')}"
        "Connection: close\r\n"
        "Content-Type: application/json\r\n"
        f"{request_ids.HEADER}: {request_id}\r\n"
        f"Content-Length: {len(text)}\r\n\r\n"
    )
    sock.sendall((head + text).encode("ascii"))
    if settings.ACCESS_LOG and REFUSALS.may_say(f"answered {status}"):
        # Without the words, which may hold what the client has sent.
        told = {"status": status, "request_id": request_id}
        REFUSALS.logger.info("answered at the door: %d %s", status, reason, extra=told)


# The one place where gunicorn makes its page; which status goes with which fault stays its own.
util.write_error = write_error
