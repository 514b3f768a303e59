"""A client of the API: tickets and webhooks. Python 3.8 or newer, standard library only.

    from parceldesk import Parceldesk

    desk = Parceldesk("test_...", url="http://127.0.0.1:8000")
    ticket_id = desk.tickets.open(type_id=4, shipment_id=4101, comments="It never arrived.")
    for ticket in desk.tickets.list(status_group="active"):
        print(ticket["id"], ticket["ticket_status_name"])

Every POST carries an Idempotency-Key of its own, so a request that is sent again does nothing
twice. A request answered with 429 or 503 is retried after the time in Retry-After, and so is a
GET, a DELETE or a POST whose answer got lost. Every other refusal raises ApiError.
"""

from __future__ import annotations

import base64
import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from email.message import Message
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Sequence, Union

Json = Dict[str, Any]
Rows = List[Json]
Id = Union[int, str]

# A Retry-After longer than this is left to the caller, in seconds.
LONGEST_WAIT = 120


class ApiError(Exception):
    """The service refused, or could not be reached: then `status` is 0.

    `code` is a stable word for programs, `errors` names every wrong field, and `request_id` is for
    support. `retry_after` is in seconds, None if the service named no time.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str | None = None,
        errors: Sequence[Json] = (),
        request_id: str | None = None,
        retry_after: int | None = None,
        body: Any = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.errors = list(errors)
        self.request_id = request_id
        self.retry_after = retry_after
        self.body = body

    def __str__(self) -> str:
        details = [str(self.status or "no answer"), self.code, self.request_id]
        return f"{self.message} ({', '.join(each for each in details if each)})"


class Answer(NamedTuple):
    data: Any
    headers: Message


class EventPage(NamedTuple):
    """Page of events, oldest first, and the cursor that follows it."""

    events: Rows
    cursor: str | None


class Parceldesk:
    """API client of one company. `attempts` is the limit of attempts per request."""

    def __init__(self, token: str, *, url: str, timeout: float = 30.0, attempts: int = 4) -> None:
        self.url = url.rstrip("/")
        self.token = token
        self.timeout = timeout
        self.attempts = attempts
        self.opener = urllib.request.build_opener(_NoRedirects())
        self.tickets = Tickets(self)
        self.webhooks = Webhooks(self)

    def call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        query: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> Answer:
        """Send any request of the API; None in `query` is omitted. Raises ApiError."""
        parameters = {name: value for name, value in (query or {}).items() if value is not None}
        target = f"{self.url}{path}" + (
            f"?{urllib.parse.urlencode(parameters)}" if parameters else ""
        )
        headers = {"Authorization": f"Bearer {self.token}", "User-Agent": "parceldesk-python"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if method == "POST":
            headers["Idempotency-Key"] = idempotency_key or str(uuid.uuid4())
        content = None if body is None else json.dumps(body).encode()
        for attempt in range(1, self.attempts + 1):
            request = urllib.request.Request(target, content, headers, method=method)
            try:
                return self._send(request)
            except ApiError as error:
                if method == "DELETE" and attempt > 1 and error.status == 404:
                    # The previous attempt deleted it, and its answer got lost.
                    return Answer({"data": True}, Message())
                wait = _wait_before_next(method, error, attempt)
                if wait is None or attempt == self.attempts:
                    raise
                time.sleep(wait)
        raise ValueError("attempts must be at least 1")

    def _send(self, request: urllib.request.Request) -> Answer:
        try:
            with self.opener.open(request, timeout=self.timeout) as answer:
                return Answer(json.loads(answer.read()), answer.headers)
        except urllib.error.HTTPError as error:
            with error:
                raise _refusal(error.code, error.headers, error.read()) from error
        except ValueError as error:
            raise ApiError(0, "The answer is not JSON.") from error
        except (OSError, http.client.HTTPException) as error:
            raise ApiError(0, f"No answer: {getattr(error, 'reason', error)}") from error


class Tickets:
    """Methods of `desk.tickets`."""

    def __init__(self, desk: Parceldesk) -> None:
        self._call = desk.call

    def open(
        self,
        type_id: int,
        *,
        comments: str = "",
        data: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
        **fields: Any,
    ) -> int:
        """Open a ticket and return its id. `fields` are shipment_id, credit_id, documents etc.

        A key of your own prevents a second ticket even if your program restarts in between.
        """
        body = {"type_id": type_id, "comments": comments, **fields, **_variables(data)}
        created = self._call("POST", "/company/tickets", body, idempotency_key=idempotency_key)
        return int(created.data["id"])

    def get(self, ticket_id: int) -> Json:
        """Return the ticket with its history."""
        row: Json = self._call("GET", f"/company/tickets/{ticket_id}").data["data"][0]
        return row

    def list(self, **query: Any) -> Iterator[Json]:
        """Yield all matching tickets, page by page; `query` as in GET /company/tickets."""
        path = "/company/tickets"
        query = {"limit": 100, **query}
        while True:
            page = self._call("GET", path, query=query).data
            yield from page["data"]
            if not page["next_cursor"] or not page["data"]:
                return
            query = {**query, "cursor": page["next_cursor"]}

    def update(
        self,
        ticket_id: int,
        status: int,
        *,
        comments: str | None = None,
        data: Mapping[str, Any] | None = None,
    ) -> bool:
        """Request status 1, 5 or 10, with a comment and new variables; True if it changed."""
        body = {"ticket_status_id": status, **_variables(data)}
        if comments is not None:
            body["comments"] = comments
        return _changed(self._call("PUT", f"/company/tickets/{ticket_id}", body))

    def comment(self, ticket_id: int, comment: str) -> bool:
        """Add a comment; return True if that changed anything."""
        path = f"/company/tickets/{ticket_id}/comments"
        return _changed(self._call("POST", path, {"comment": comment}))

    def comments(self, ticket_id: int) -> Rows:
        """Return the comments, yours and support's, oldest first."""
        comments: Rows = self._call("GET", f"/company/tickets/comments/{ticket_id}").data["data"]
        return comments

    def add_file(
        self,
        ticket_id: int,
        name: str,
        content: bytes,
        *,
        description: str | None = None,
        requested_document: Id | None = None,
    ) -> Json:
        """Attach a JPEG, PNG, WebP or PDF; `requested_document` names the request it fulfils."""
        body: Json = {"name": name, "content_base64": base64.b64encode(content).decode()}
        more = {"description": description, "requested_document": requested_document}
        body.update({key: value for key, value in more.items() if value is not None})
        created: Json = self._call("POST", f"/company/tickets/{ticket_id}/files", body).data["data"]
        return created

    def appeal(self, ticket_id: int, comment: str, documents: Sequence[Json] | None = None) -> None:
        """Appeal against a Declined ticket, once per decision."""
        body: Json = {"comment": comment}
        if documents is not None:
            body["documents"] = list(documents)
        self._call("POST", f"/company/tickets/{ticket_id}/appeal", body)

    def rate(self, ticket_id: int, rating: int, comment: str = "") -> None:
        """Rate a decided ticket from 1 to 5, once."""
        self._call("POST", f"/tickets/ratings/{ticket_id}", {"rating": rating, "comment": comment})


class Webhooks:
    """Methods of `desk.webhooks`."""

    def __init__(self, desk: Parceldesk) -> None:
        self._call = desk.call

    def types(self) -> Rows:
        types: Rows = self._call("GET", "/webhook-types").data
        return types

    def create(self, type_id: int, url: str | None, **fields: Any) -> Json:
        """Create a webhook and return it with its `secret`. Without a URL, read its events."""
        body = {"type_id": type_id, "url": url, **fields}
        webhook: Json = self._call("POST", "/webhooks", body).data["data"]
        return webhook

    def list(self, *, without_url: bool = False) -> Rows:
        """Return the webhooks with a URL, or all with `without_url`."""
        query = {"without_url": 1} if without_url else {}
        webhooks: Rows = self._call("GET", "/webhooks", query=query).data["data"]
        return webhooks

    def get(self, webhook_id: int) -> Json:
        webhook: Json = self._call("GET", f"/webhooks/{webhook_id}").data["data"]
        return webhook

    def update(self, webhook_id: int, **fields: Any) -> None:
        """Change fields such as url, active or auth_token."""
        self._call("PUT", f"/webhooks/{webhook_id}", fields)

    def delete(self, webhook_id: int) -> None:
        self._call("DELETE", f"/webhooks/{webhook_id}")

    def rotate_secret(self, webhook_id: int, activates_in: int = 86400) -> Json:
        """Create a new `secret`; return it with the time from which it signs."""
        body = {"activates_in": activates_in}
        secret: Json = self._call("POST", f"/webhooks/{webhook_id}/secret", body).data["data"]
        return secret

    def health(self, webhook_id: int) -> Json:
        health: Json = self._call("GET", f"/webhooks/{webhook_id}/health").data["data"]
        return health

    def test(self, webhook_id: int) -> Json:
        """Send a signed sample and a tampered one; return the results, with advice."""
        result: Json = self._call("POST", f"/webhooks/{webhook_id}/test").data["data"]
        return result

    def deliveries(self, webhook_id: int, **query: Any) -> Iterator[Json]:
        """Yield all matching deliveries, newest first; `query` such as state="given_up"."""
        query = {"limit": 100, **query}
        while True:
            page = self._call("GET", f"/webhooks/{webhook_id}/deliveries", query=query).data
            yield from page["data"]
            if not page["next_cursor"] or not page["data"]:
                return
            query = {**query, "cursor": page["next_cursor"]}

    def delivery(self, delivery_id: str) -> Json:
        """Return a delivery with its body and the log of its attempts."""
        delivery: Json = self._call("GET", f"/deliveries/{delivery_id}").data["data"]
        return delivery

    def redeliver(self, delivery_id: str) -> None:
        self._call("POST", f"/deliveries/{delivery_id}/redeliver")

    def recover(self, webhook_id: int, since: str, until: str | None = None) -> int:
        """Redeliver failed deliveries of a period (ISO 8601); return their number."""
        body = {"since": since, **({"until": until} if until else {})}
        result = self._call("POST", f"/webhooks/{webhook_id}/recover", body).data["data"]
        return int(result["redelivered"])

    def events(
        self,
        webhook_id: int,
        after: str | None = None,
        *,
        limit: int = 100,
        poll: float | None = None,
    ) -> Iterator[EventPage]:
        """Yield the webhook's events in pages, from the cursor `after`, or from the oldest.

        Store a page's cursor once its events are handled, and pass it next time. Ends with the
        last page; with `poll`, a number of seconds, it waits for more forever.
        """
        while True:
            query = {"after": after, "limit": limit}
            page = self._call("GET", f"/webhooks/{webhook_id}/events", query=query).data
            after = page["next_cursor"]
            if page["data"]:
                yield EventPage(page["data"], after)
            if len(page["data"]) < limit:
                if poll is None:
                    return
                time.sleep(poll)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Handler that follows no redirect, which would leak the token."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _refusal(status: int, headers: Message, content: bytes) -> ApiError:
    """Parse an error response of the management paths, of those under /ship/, or of a proxy."""
    try:
        body = json.loads(content)
    except ValueError:
        body = None
    details = body if isinstance(body, dict) else {}
    if isinstance(details.get("error"), dict):
        details = {**details["error"], "code": details["error"].get("reason")}
    wait = headers.get("Retry-After") or ""
    return ApiError(
        status,
        details.get("message") or f"The service answered {status}.",
        code=details.get("code"),
        errors=details.get("errors") or (),
        request_id=headers.get("X-Request-Id"),
        retry_after=int(wait) if wait.isdigit() else None,
        body=body,
    )


def _wait_before_next(method: str, error: ApiError, attempt: int) -> float | None:
    """Return seconds until the next attempt; None if it may do harm or cannot help."""
    lost = error.status in (0, 500, 502, 504) and method != "PUT"
    # The first request with this Idempotency-Key is still running.
    running = error.status == 409 and error.retry_after is not None
    if not (lost or running or error.status in (429, 503)):
        return None
    wait = max(error.retry_after or 0, 2 ** (attempt - 1))
    return wait if wait <= LONGEST_WAIT else None


def _variables(data: Mapping[str, Any] | None) -> Json:
    """Encode a ticket's variables as the API takes them: a string that holds JSON."""
    return {} if data is None else {"data": json.dumps(data)}


def _changed(answer: Answer) -> bool:
    return answer.headers.get("X-Ticket-Changed") == "1"
