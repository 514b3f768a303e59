"""Errors that are answered without the application: invalid HTTP, and exceeded limits."""

import json
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from gunicorn import util

from config.error_bodies import body
from core.measures import catalogue, counting
from core.watch import request_ids
from core.watch.log_bound import REFUSALS
from portal.problems import problem

# Refusals that are worth a retry.
PASSING = {429: "Retry-After: 5\r\n", 503: "Retry-After: 5\r\n"}


def client_request_id(request: Any) -> str:
    """Return the id that the client gave its request; "" if it gave none or no head was read."""
    headers: dict[str, str] = dict(request.headers) if request is not None else {}
    return headers.get(request_ids.HEADER.upper(), "")


def write_error(sock: Any, status_int: int, reason: str, mesg: str, request: Any = None) -> None:
    """Answer a request that never reaches Django (decision E3); its connection is then closed."""
    status = status_int
    if status == 501:
        # An unknown transfer coding: every fault of a request is a 400 here.
        status = 400
    counting.count(catalogue.DOOR_REFUSALS, str(status))
    path = request.path if request else ""
    if path.startswith("/c/"):
        kind, content = "text/html; charset=utf-8", page(request, status)
    else:
        kind, content = "application/json", json.dumps(body(path, status, mesg or reason)).encode()
    # Gunicorn passes no request; its worker has set the id of the current one.
    request_id = request_ids.accepted(client_request_id(request)) or request_ids.current()
    request_id = request_id or request_ids.new()
    head = (
        f"HTTP/1.1 {status} {reason}\r\n"
        f"{PASSING.get(status, '')}"
        "Connection: close\r\n"
        f"Content-Type: {kind}\r\n"
        f"{request_ids.HEADER}: {request_id}\r\n"
        f"Content-Length: {len(content)}\r\n\r\n"
    )
    sock.sendall(head.encode("ascii") + content)
    if settings.ACCESS_LOG and REFUSALS.may_log(f"answered {status}"):
        # The message is left out: it may quote the client's data.
        fields = {"status": status, "request_id": request_id}
        REFUSALS.logger.info("answered at the door: %d %s", status, reason, extra=fields)


def page(request: Any, status: int) -> bytes:
    """Return an error of the company's page, in the browser's language."""
    browser = HttpRequest()
    browser.META["HTTP_ACCEPT_LANGUAGE"] = dict(request.headers).get("ACCEPT-LANGUAGE", "")
    return problem(browser, "broken" if status == 503 else "malformed", status).content


# Gunicorn writes all its error pages with this function; it still chooses the status.
util.write_error = write_error
