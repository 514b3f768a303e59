"""clients/python/parceldesk.py: the whole API through it, and what it does when it is refused."""

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
from tests.clients.stand_in import Asked, StandIn, Told, load
from tickets.statuses import Status

client = load("python/parceldesk.py")
ApiError, Parceldesk = client.ApiError, client.Parceldesk
DONE = Told(200, {"data": True}, {"X-Ticket-Changed": "1"})


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    with StandIn().serving() as stand_in:
        yield stand_in


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that the client has waited, which here take no time."""
    waited: list[float] = []
    monkeypatch.setattr(client.time, "sleep", waited.append)
    return waited


@pytest.fixture
def desk(stand_in: StandIn, waits: list[float]) -> Any:
    return Parceldesk("test_token", url=f"{stand_in.url}/")


def in_turn(*answers: Told) -> Any:
    left = iter(answers)
    return lambda asked: next(left)


def test_tickets_and_webhooks_of_the_real_service(live_server: LiveServer) -> None:
    company = build.company("Acme")
    desk = Parceldesk(services.issue_token(company.pk), url=live_server.url)

    opened = [desk.tickets.open(4, shipment_id=4101 + n, data={"n": n}) for n in range(3)]
    assert [each["id"] for each in desk.tickets.list(limit=2)] == opened[::-1]
    assert desk.tickets.get(opened[0])["ticket_status_id"] == Status.PENDING
    with pytest.raises(ApiError) as duplicate:
        desk.tickets.open(4, shipment_id=4101)
    assert (duplicate.value.status, duplicate.value.body["ticket_id"]) == (409, opened[0])
    shown = re.search(r"```python\n(.*?)```", (CLIENTS / "README.md").read_text(), re.DOTALL)[1]
    shown = shown.replace("test_...", desk.token).replace("http://127.0.0.1:8000", desk.url)
    ran = subprocess.run(
        [sys.executable, "-c", shown], cwd=CLIENTS / "python", capture_output=True, text=True
    )
    assert (ran.stdout[:4], ran.stderr) == ("409 ", "")
    with pytest.raises(ApiError) as wrong:
        desk.tickets.open(4, shipment_id="4101", colour="red")
    assert {each["field"] for each in wrong.value.errors} == {"shipment_id", "colour"}
    assert desk.tickets.update(opened[0], 10, comments="The claim, with the invoice.") is True
    assert desk.tickets.comment(opened[0], "It is number 7.") is True
    told = [each["description"] for each in desk.tickets.comments(opened[0])]
    assert told == ["The claim, with the invoice.", "It is number 7."]
    closed = build.ticket(company, status=Status.DECLINED).pk
    assert desk.tickets.update(closed, 5) is False
    desk.tickets.rate(closed, 2, "Too late.")

    made = desk.webhooks.create(3, "https://hooks.acme.example.com/in", max_in_flight=2)
    assert len(made["secret"]) == 64
    desk.webhooks.update(made["id"], active=0)
    publishing.publish([build.news(company) for _ in range(3)])
    assert [each["active"] for each in desk.webhooks.list()] == [0]
    assert len({each["id"] for each in desk.webhooks.deliveries(made["id"], limit=2)}) == 3
    assert desk.webhooks.recover(made["id"], since="2026-01-01T00:00:00Z") == 3
    assert desk.webhooks.health(made["id"])["condition"] == "paused"
    assert desk.webhooks.rotate_secret(made["id"])["secret"] != made["secret"]
    desk.webhooks.delete(made["id"])
    with pytest.raises(ApiError, match="404"):
        desk.webhooks.get(made["id"])


def test_a_post_whose_answer_got_lost_is_sent_again_under_the_same_key(
    desk: Any, stand_in: StandIn, waits: list[float]
) -> None:
    stand_in.answer = in_turn(
        Told(0),
        Told(503, {"message": "Away."}, {"Retry-After": "5"}),
        Told(409, {"message": "Still running."}, {"Retry-After": "1"}),
        Told(200, {"id": 41}),
        Told(200, {"id": 42}),
    )

    assert (desk.tickets.open(2), desk.tickets.open(2)) == (41, 42)

    keys = [each.headers["Idempotency-Key"] for each in stand_in.asked]
    assert keys == [keys[0]] * 4 + [keys[4]]
    assert keys[4] != keys[0]
    assert waits == [1, 5, 4]


def test_a_key_of_ones_own_is_used(desk: Any, stand_in: StandIn) -> None:
    stand_in.answer = lambda asked: Told(200, {"id": 41})

    desk.tickets.open(2, idempotency_key="claim-7")

    assert [each.headers["Idempotency-Key"] for each in stand_in.asked] == ["claim-7"]


def test_an_update_whose_answer_got_lost_is_not_sent_again(desk: Any, stand_in: StandIn) -> None:
    """It may have been taken, and its comment would stand there twice."""
    stand_in.answer = in_turn(Told(0))

    with pytest.raises(ApiError, match="No answer"):
        desk.tickets.update(41, 5, comments="Here it is.")
    assert len(stand_in.asked) == 1


def test_a_deletion_whose_answer_got_lost_is_done(desk: Any, stand_in: StandIn) -> None:
    stand_in.answer = in_turn(Told(0), Told(404, {"message": "Not found."}))

    desk.webhooks.delete(7)

    assert stand_in.lines() == ["DELETE /webhooks/7"] * 2


def test_gives_up_in_the_end_and_leaves_long_waits_to_the_caller(
    desk: Any, stand_in: StandIn, waits: list[float]
) -> None:
    stand_in.answer = lambda asked: Told(429, {"message": "Too many."}, {"Retry-After": "60"})
    with pytest.raises(ApiError) as refused:
        desk.webhooks.list()
    assert (len(stand_in.asked), waits, refused.value.retry_after) == (4, [60, 60, 60], 60)

    stand_in.answer = lambda asked: Told(429, {"message": "Tomorrow."}, {"Retry-After": "9000"})
    with pytest.raises(ApiError, match="Tomorrow"):
        desk.webhooks.redeliver("01a1fa12-91b9-736b-934f-6c5b515fd1da")
    assert len(stand_in.asked) == 5


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
    stand_in.answer = lambda asked: Told(422, body, {"X-Request-Id": "r-1"})

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
    stand_in.answer = lambda asked: Told(302, {}, {"Location": f"{stand_in.url}/elsewhere"})

    with pytest.raises(ApiError, match="302"):
        desk.webhooks.list()
    assert stand_in.lines() == ["GET /webhooks"]


def test_files_and_appeals_are_sent_as_the_api_takes_them(desk: Any, stand_in: StandIn) -> None:
    stand_in.answer = in_turn(Told(200, {"success": True, "data": {"id": 3}}), DONE)

    assert desk.tickets.add_file(41, "box.jpg", b"\xff\xd8", requested_document=9) == {"id": 3}
    desk.tickets.appeal(41, "The photos were there.")

    assert [(each.line, each.body) for each in stand_in.asked] == [
        (
            "POST /company/tickets/41/files",
            {"name": "box.jpg", "content_base64": "/9g=", "requested_document": 9},
        ),
        ("POST /company/tickets/41/appeal", {"comment": "The photos were there."}),
    ]


def test_events_are_read_on_from_the_cursor_that_was_stored(
    desk: Any, stand_in: StandIn, waits: list[float]
) -> None:
    def answer(asked: Asked) -> Told:
        at = int(asked.path.partition("after=")[2].partition("&")[0] or 0)
        rows = [{"id": n} for n in range(at, min(at + 2, 5))]
        return Told(200, {"data": rows, "next_cursor": str(at + len(rows))})

    stand_in.answer = answer

    pages = list(desk.webhooks.events(7, limit=2))
    assert [[row["id"] for row in page.events] for page in pages] == [[0, 1], [2, 3], [4]]
    assert list(desk.webhooks.events(7, after=pages[-1].cursor, limit=2)) == []
    following = desk.webhooks.events(7, after="3", limit=2, poll=2.5)
    assert next(following).cursor == "5"
    assert waits == []
