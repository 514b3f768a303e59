"""clients/python/parceldesk.py: the whole API through it, and its reaction to refusals."""

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from pytest_django.live_server_helper import LiveServer

from companies import services
from deliveries import publishing
from tests import builders as build
from tests.clients.languages import CLIENTS
from tests.clients.stand_in import Request, Response, StandIn, load
from tickets.statuses import Status

client = load("python/parceldesk.py")
ApiError, Parceldesk = client.ApiError, client.Parceldesk
CHANGED = Response(200, {"data": True}, {"X-Ticket-Changed": "1"})


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    with StandIn().serving() as stand_in:
        yield stand_in


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Replace sleep; returns the list of seconds that the client has waited, at no cost of time."""
    waited: list[float] = []
    monkeypatch.setattr(client.time, "sleep", waited.append)
    return waited


@pytest.fixture
def desk(stand_in: StandIn, waits: list[float]) -> Any:
    return Parceldesk("test_token", url=f"{stand_in.url}/")


def in_turn(*answers: Response) -> Any:
    remaining = iter(answers)
    return lambda request: next(remaining)


def test_tickets_and_webhooks_of_the_real_service(live_server: LiveServer) -> None:
    company = build.company("Acme")
    desk = Parceldesk(services.issue_token(company.pk), url=live_server.url)

    opened = [desk.tickets.open(4, shipment_id=4101 + n, data={"n": n}) for n in range(3)]
    assert [each["id"] for each in desk.tickets.list(limit=2)] == opened[::-1]
    assert desk.tickets.get(opened[0])["ticket_status_id"] == Status.PENDING
    with pytest.raises(ApiError) as duplicate:
        desk.tickets.open(4, shipment_id=4101)
    assert (duplicate.value.status, duplicate.value.body["ticket_id"]) == (409, opened[0])
    example = re.search(r"```python\n(.*?)```", (CLIENTS / "README.md").read_text(), re.DOTALL)[1]
    example = example.replace("test_...", desk.token).replace("http://127.0.0.1:8000", desk.url)
    ran = subprocess.run(
        [sys.executable, "-c", example], cwd=CLIENTS / "python", capture_output=True, text=True
    )
    assert (ran.stdout[:4], ran.stderr) == ("409 ", "")
    with pytest.raises(ApiError) as wrong:
        desk.tickets.open(4, shipment_id="4101", colour="red")
    assert {each["field"] for each in wrong.value.errors} == {"shipment_id", "colour"}
    assert desk.tickets.update(opened[0], 10, comments="The claim, with the invoice.") is True
    assert desk.tickets.comment(opened[0], "It is number 7.") is True
    comments = [each["description"] for each in desk.tickets.comments(opened[0])]
    assert comments == ["The claim, with the invoice.", "It is number 7."]
    closed = build.ticket(company, status=Status.DECLINED).pk
    assert desk.tickets.update(closed, 5) is False
    desk.tickets.rate(closed, 2, "Too late.")

    webhook = desk.webhooks.create(3, "https://hooks.acme.example.com/in", max_in_flight=2)
    assert len(webhook["secret"]) == 64
    desk.webhooks.update(webhook["id"], active=0)
    publishing.publish([build.news(company) for _ in range(3)])
    assert [each["active"] for each in desk.webhooks.list()] == [0]
    assert len({each["id"] for each in desk.webhooks.deliveries(webhook["id"], limit=2)}) == 3
    assert desk.webhooks.recover(webhook["id"], since="2026-01-01T00:00:00Z") == 3
    assert desk.webhooks.health(webhook["id"])["condition"] == "paused"
    assert desk.webhooks.rotate_secret(webhook["id"])["secret"] != webhook["secret"]
    desk.webhooks.delete(webhook["id"])
    with pytest.raises(ApiError, match="404"):
        desk.webhooks.get(webhook["id"])


def test_a_post_whose_answer_got_lost_is_sent_again_under_the_same_key(
    desk: Any, stand_in: StandIn, waits: list[float]
) -> None:
    stand_in.answer = in_turn(
        Response(0),
        Response(503, {"message": "Away."}, {"Retry-After": "5"}),
        Response(409, {"message": "Still running."}, {"Retry-After": "1"}),
        Response(200, {"id": 41}),
        Response(200, {"id": 42}),
    )

    assert (desk.tickets.open(2), desk.tickets.open(2)) == (41, 42)

    keys = [each.headers["Idempotency-Key"] for each in stand_in.requests]
    assert keys == [keys[0]] * 4 + [keys[4]]
    assert keys[4] != keys[0]
    assert waits == [1, 5, 4]


def test_a_key_of_ones_own_is_used(desk: Any, stand_in: StandIn) -> None:
    stand_in.answer = lambda request: Response(200, {"id": 41})

    desk.tickets.open(2, idempotency_key="claim-7")

    assert [each.headers["Idempotency-Key"] for each in stand_in.requests] == ["claim-7"]


def test_an_update_whose_answer_got_lost_is_not_sent_again(desk: Any, stand_in: StandIn) -> None:
    """Never retry an update: it may have been applied, and its comment would appear twice."""
    stand_in.answer = in_turn(Response(0))

    with pytest.raises(ApiError, match="No answer"):
        desk.tickets.update(41, 5, comments="Here it is.")
    assert len(stand_in.requests) == 1


def test_a_deletion_whose_answer_got_lost_is_done(desk: Any, stand_in: StandIn) -> None:
    stand_in.answer = in_turn(Response(0), Response(404, {"message": "Not found."}))

    desk.webhooks.delete(7)

    assert stand_in.lines() == ["DELETE /webhooks/7"] * 2


def test_gives_up_in_the_end_and_leaves_long_waits_to_the_caller(
    desk: Any, stand_in: StandIn, waits: list[float]
) -> None:
    stand_in.answer = lambda request: Response(429, {"message": "Too many."}, {"Retry-After": "60"})
    with pytest.raises(ApiError) as refused:
        desk.webhooks.list()
    assert (len(stand_in.requests), waits, refused.value.retry_after) == (4, [60, 60, 60], 60)

    stand_in.answer = lambda _: Response(429, {"message": "Tomorrow."}, {"Retry-After": "9000"})
    with pytest.raises(ApiError, match="Tomorrow"):
        desk.webhooks.redeliver("01a1fa12-91b9-736b-934f-6c5b515fd1da")
    assert len(stand_in.requests) == 5


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ({"message": "No.", "code": "ticket_closed"}, "ticket_closed", "No."),
        ({"error": {"code": 422, "reason": "late", "message": "No."}}, "late", "No."),
        (b"<h1>Bad Gateway</h1>", None, "The service answered 422."),
        ([], None, "The service answered 422."),
    ],
)
def test_an_error_tells_what_programs_and_support_need(
    desk: Any, stand_in: StandIn, body: Any, code: str | None, message: str
) -> None:
    stand_in.answer = lambda request: Response(422, body, {"X-Request-Id": "r-1"})

    with pytest.raises(ApiError) as refused:
        desk.tickets.comment(41, "Hello?")

    error = refused.value
    assert (error.status, error.code, error.message, error.request_id) == (
        422,
        code,
        message,
        "r-1",
    )
    assert "r-1" in str(error)


def test_a_redirect_is_not_followed_with_the_token(desk: Any, stand_in: StandIn) -> None:
    stand_in.answer = lambda request: Response(302, {}, {"Location": f"{stand_in.url}/elsewhere"})

    with pytest.raises(ApiError, match="302"):
        desk.webhooks.list()
    assert stand_in.lines() == ["GET /webhooks"]


def test_files_and_appeals_are_sent_as_the_api_takes_them(desk: Any, stand_in: StandIn) -> None:
    stand_in.answer = in_turn(Response(200, {"success": True, "data": {"id": 3}}), CHANGED)

    assert desk.tickets.add_file(41, "box.jpg", b"\xff\xd8", requested_document=9) == {"id": 3}
    desk.tickets.appeal(41, "The photos were there.")

    assert [(each.line, each.body) for each in stand_in.requests] == [
        (
            "POST /company/tickets/41/files",
            {"name": "box.jpg", "content_base64": "/9g=", "requested_document": 9},
        ),
        ("POST /company/tickets/41/appeal", {"comment": "The photos were there."}),
    ]


def test_events_are_read_on_from_the_cursor_that_was_stored(
    desk: Any, stand_in: StandIn, waits: list[float]
) -> None:
    def answer(request: Request) -> Response:
        at = int(request.path.partition("after=")[2].partition("&")[0] or 0)
        rows = [{"id": n} for n in range(at, min(at + 2, 5))]
        return Response(200, {"data": rows, "next_cursor": str(at + len(rows))})

    stand_in.answer = answer

    pages = list(desk.webhooks.events(7, limit=2))
    assert [[row["id"] for row in page.events] for page in pages] == [[0, 1], [2, 3], [4]]
    assert list(desk.webhooks.events(7, after=pages[-1].cursor, limit=2)) == []
    following = desk.webhooks.events(7, after="3", limit=2, poll=2.5)
    assert next(following).cursor == "5"
    assert waits == []
