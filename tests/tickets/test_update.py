from typing import Any

import pytest
from rest_framework.test import APIClient

from companies.models import Company
from tests import builders as build
from tickets.models import HistoryEntry, Ticket
from tickets.statuses import TERMINAL, Status

OPEN = [1, 4, 5, 6, 10]


def update_ticket(api: APIClient, ticket: Ticket, to: int, **body: Any) -> str:
    """Return the answer's header, after checking the body that every update gets."""
    answer = api.put(f"/company/tickets/{ticket.pk}", {"ticket_status_id": to, **body})
    assert (answer.status_code, answer.json()) == (200, {"data": True})
    ticket.refresh_from_db()
    assert answer["X-Ticket-Status"] == str(ticket.status)
    return answer["X-Ticket-Changed"]


@pytest.mark.parametrize(
    ("status", "to"),
    [(current, to) for current in OPEN for to in (1, 10) if current != to] + [(4, 5), (6, 5)],
)
def test_moves_a_ticket(api: APIClient, company: Company, status: int, to: int) -> None:
    ticket = build.ticket(company, status=status)

    assert update_ticket(api, ticket, to) == "1"

    assert (ticket.status, ticket.version) == (to, 2)
    line = HistoryEntry.objects.get()
    assert (line.by, line.was, line.now, line.public) == ("company", status, to, True)


@pytest.mark.parametrize("status", [1, 10])
def test_leaves_the_status_when_follow_up_cannot_follow(
    api: APIClient, company: Company, status: int
) -> None:
    ticket = build.ticket(company, status=status)

    assert update_ticket(api, ticket, 5) == "0"

    assert (ticket.status, ticket.version) == (status, 1)
    assert not HistoryEntry.objects.exists()


@pytest.mark.parametrize("status", [1, 10])
def test_keeps_what_came_with_a_follow_up_that_cannot_follow(
    api: APIClient, company: Company, status: int
) -> None:
    ticket = build.ticket(company, status=status)

    assert update_ticket(api, ticket, 5, comments="It has arrived, broken.", data='{"a": 1}') == "1"

    assert (ticket.status, ticket.data) == (status, '{"a": 1}')
    assert ticket.conversation.get().text == "It has arrived, broken."
    line = HistoryEntry.objects.get()
    assert (line.was, line.now, line.public) == (status, status, False)
    assert (line.kind, line.reason) == ("move_refused", "")
    assert line.data == {
        "to": 5,
        "why": "not_allowed",
        "variables": {"added": {"a": 1}, "removed": {}, "changed": {}},
    }


@pytest.mark.parametrize("status", [1, 5, 10])
def test_unchanged_status_is_not_recorded(api: APIClient, company: Company, status: int) -> None:
    ticket = build.ticket(company, status=status)

    assert update_ticket(api, ticket, status) == "0"

    assert (ticket.status, ticket.version) == (status, 1)
    assert not HistoryEntry.objects.exists()


@pytest.mark.parametrize("status", [1, 5, 10])
def test_takes_a_message_with_the_status_that_was_there_already(
    api: APIClient, company: Company, status: int
) -> None:
    ticket = build.ticket(company, status=status)

    assert update_ticket(api, ticket, status, comments="One more thing.") == "1"

    assert ticket.status == status
    assert ticket.conversation.get().text == "One more thing."
    assert not HistoryEntry.objects.exists()


@pytest.mark.parametrize("status", sorted(TERMINAL))
@pytest.mark.parametrize("to", [1, 5, 10])
def test_leaves_a_decided_ticket_alone(
    api: APIClient, company: Company, status: Status, to: int
) -> None:
    ticket = build.ticket(company, status=status, data='{"a": 1}')
    before = Ticket.objects.values().get()

    assert update_ticket(api, ticket, to, comments="But look!", data="{}") == "0"

    assert Ticket.objects.values().get() == before
    assert not ticket.conversation.exists()
    assert not HistoryEntry.objects.exists()


def test_tells_the_comment_of_the_status_after_the_move(api: APIClient, company: Company) -> None:
    ticket = build.ticket(company, status=4)

    assert update_ticket(api, ticket, 5, comments="Here is the invoice.") == "1"

    comment = ticket.conversation.get()
    assert (comment.by, comment.public, comment.status) == ("company", True, 5)
    assert comment.text == "Here is the invoice."


@pytest.mark.parametrize("status", [4, 6])
def test_holds_a_follow_up_back_that_says_nothing_new(
    api: APIClient, company: Company, status: int
) -> None:
    ticket = build.ticket(company, status=status, data='{"a": 1}')

    assert update_ticket(api, ticket, 5, comments="ok, gracias!", data='{"a": 1}') == "1"

    assert (ticket.status, ticket.version) == (status, 1)
    assert ticket.conversation.get().text == "ok, gracias!"
    line = HistoryEntry.objects.get()
    assert (line.was, line.now, line.public) == (status, status, False)
    assert (line.kind, line.reason) == ("move_refused", "")
    assert line.data == {"to": 5, "why": "nothing_new"}


def test_asks_the_relevance_check_that_the_settings_name(
    api: APIClient, company: Company, settings: Any
) -> None:
    settings.RELEVANCE_CHECK = "tests.tickets.test_update.never"
    ticket = build.ticket(company, status=6)

    update_ticket(api, ticket, 5, comments="The box was wet.")
    assert ticket.status == 6

    update_ticket(api, ticket, 10, comments="Is it claimed?")
    assert ticket.status == 10


def never(ticket: Ticket, text: str, data: str | None) -> bool:
    return False


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_stores_no_empty_comment(api: APIClient, company: Company, text: str) -> None:
    ticket = build.ticket(company, status=1)

    assert update_ticket(api, ticket, 10, comments=text) == "1"

    assert not ticket.conversation.exists()


def test_replaces_variables_that_say_the_same_in_other_words(
    api: APIClient, company: Company
) -> None:
    ticket = build.ticket(company, status=1, data='{"a":1}')

    assert update_ticket(api, ticket, 1, data='{"a": 1}') == "1"
    assert update_ticket(api, ticket, 1, data='{"a": 1}') == "0"

    assert ticket.data == '{"a": 1}'
    line = HistoryEntry.objects.get()
    assert (line.kind, line.reason) == ("data_changed", "")
    assert line.data == {"variables": {"added": {}, "removed": {}, "changed": {}}}


@pytest.mark.parametrize("to", [0, 2, 3, 4, 6, 7, 100, -1, "5", 5.0, True, None, [], {}])
def test_refuses_a_status_that_is_not_the_companys_to_ask(
    api: APIClient, company: Company, to: Any
) -> None:
    ticket = build.ticket(company, status=6)

    answer = api.put(f"/company/tickets/{ticket.pk}", {"ticket_status_id": to, "comments": "x"})

    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == ["ticket_status_id"]
    assert "X-Ticket-Changed" not in answer
    ticket.refresh_from_db()
    assert (ticket.status, ticket.version) == (6, 1)
    assert not ticket.conversation.exists()


def test_asks_for_the_status_and_knows_no_other_fields(api: APIClient, company: Company) -> None:
    ticket = build.ticket(company, status=6)

    answer = api.put(f"/company/tickets/{ticket.pk}", {"comments": 5, "type_id": 3})

    fields = [error["field"] for error in answer.json()["errors"]]
    assert sorted(fields) == ["comments", "ticket_status_id", "type_id"]
