"""Walking the list that a ticket was opened from: previous, next, and back to the list."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from companies.models import Company
from desk.queue import keyset
from tests import builders as build
from tests.desk.forms import picked, token
from tickets.models import Agent, Appeal, Ticket
from tickets.statuses import Status

LIST = "/admin/tickets/ticket/"
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture
def lead(db: None) -> Client:
    client = Client()
    client.force_login(build.agent("eve", group="lead", available=False).user)
    return client


def rows(desk: Client, **query: Any) -> list[Any]:
    return list(desk.get(LIST, query).context["cl"].result_list)


def walk_from(desk: Client, address: str) -> Any:
    answer = desk.get(address)
    assert answer.status_code == 200
    return answer.context["walk"]


def walked(desk: Client, address: str) -> list[int]:
    """Return all tickets from this one on, by following Next."""
    ids = []
    while True:
        walk = walk_from(desk, address)
        ids.append(walk.ticket_id)
        if walk.next is None:
            return ids
        address = walk.next.address
        assert len(ids) < 50


def neighbours(desk: Client, address: str | None) -> list[tuple[int | None, int, int | None]]:
    """Return previous, current and next of each ticket from this one on, by following Next."""
    ids = []
    while address is not None:
        walk = walk_from(desk, address)
        sides = [side and side.ticket_id for side in (walk.previous, walk.next)]
        ids.append((sides[0], walk.ticket_id, sides[1]))
        address = walk.next and walk.next.address
        assert len(ids) < 50
    return ids


def walked_back(desk: Client, address: str) -> list[int]:
    ids = []
    while True:
        walk = walk_from(desk, address)
        ids.append(walk.ticket_id)
        if walk.previous is None:
            return ids[::-1]
        address = walk.previous.address


def ids(tickets: list[Any]) -> list[int]:
    return [one.pk for one in tickets]


def several(company: Company, agent: Agent) -> None:
    """Create tickets of two agents and of nobody, some with equal due dates and some without."""
    bob = build.agent("bob")
    for number in range(9):
        build.ticket(
            company,
            agent=(agent, bob, None)[number % 3],
            status=Status.IN_REVIEW,
            type_id=4 + number % 2,
            created_at=NOON + timedelta(hours=number // 2),
            due_at=None if number > 6 else NOON + timedelta(hours=number // 3),
            filing_due_at=None if number % 3 else NOON - timedelta(days=number),
            comments="Broken cup." if number % 2 else "",
        )


# Run some of each kind here, and all others in CI.
LISTS = [
    {"queue": "open"},
    {"queue": "open", "o": "due"},
    {"queue": "everything", "oldest": "1"},
    {"q": "broken"},
]
FURTHER_LISTS = [
    {"queue": "open", "oldest": "1"},
    {"queue": "open", "o": "filing"},
    {"queue": "open", "type": "5"},
    {"queue": "open", "agent": "bob"},
    {"queue": "mine"},
    {"queue": "overdue"},
    {"queue": "unassigned"},
    {"queue": "everyone"},
    {"queue": "everything"},
    {"queue": "everything", "status": "6"},
    {"q": "Acme", "type": "4"},
]


@pytest.mark.parametrize(
    "query", [*LISTS, *(pytest.param(each, marks=pytest.mark.slow) for each in FURTHER_LISTS)]
)
def test_walks_each_list_in_its_own_order_both_ways(
    lead: Client, company: Company, agent: Agent, query: dict[str, str]
) -> None:
    several(company, agent)
    if query.get("queue") == "mine":
        Ticket.objects.filter(agent=agent).update(agent=Agent.objects.get(user__username="eve"))
    listed = rows(lead, **query)
    order = ids(listed)

    assert len(listed) >= 2
    assert neighbours(lead, listed[0].address) == list(
        zip([None, *order], order, [*order[1:], None], strict=False)
    )


@pytest.mark.parametrize("queue", ["open", "everything"])
def test_walks_back_by_the_link_to_the_one_before(
    lead: Client, company: Company, agent: Agent, queue: str
) -> None:
    several(company, agent)
    listed = rows(lead, queue=queue)

    assert walked_back(lead, listed[-1].address) == ids(listed)


def test_walks_the_appeals_from_the_oldest_on(lead: Client, company: Company) -> None:
    for _ in range(3):
        ticket = build.ticket(company, status=Status.DECLINED)
        Appeal.objects.create(ticket=ticket, comment="No.", created_at=NOON, declined_at=NOON)
    listed = rows(lead, queue="appeals")

    assert walked(lead, listed[0].address) == ids(listed) == sorted(ids(listed))


def test_a_ticket_that_has_left_the_list_still_has_its_place_there(
    desk: Client, company: Company, agent: Agent
) -> None:
    """Trap: a decided ticket has another deadline, or none, and so another place."""
    for number in range(3):
        due = NOON + timedelta(hours=number)
        build.ticket(company, agent=agent, status=Status.IN_REVIEW, due_at=due)
    first, second, third = rows(desk, queue="mine")
    Ticket.objects.filter(pk=second.pk).update(status=Status.ACCEPTED, due_at=None)

    walk = walk_from(desk, second.address)

    assert (walk.previous.ticket_id, walk.next.ticket_id) == (first.pk, third.pk)
    back = desk.get(walk.place.address).context["cl"]
    assert ids(back.result_list) == [first.pk, third.pk]
    assert back.here == 1


def test_the_breadcrumb_and_the_key_lead_to_the_list_at_its_row(
    desk: Client, company: Company, agent: Agent
) -> None:
    for _ in range(30):
        build.ticket(company, type_id=4)
    build.ticket(company, type_id=5)
    ticket = rows(desk, queue="open", type="4", p=2)[2]

    html = desk.get(ticket.address).content.decode()
    address = unescape(html.split('id="to-list" href="')[1].split('"')[0])

    assert f'data-queue="{address.replace("&", "&amp;")}"' in html
    changelist = desk.get(address).context["cl"]
    assert (changelist.page_num, changelist.here) == (2, 2)
    assert changelist.result_list[changelist.here].pk == ticket.pk
    assert {one.type_id for one in changelist.result_list} == {4}


def test_send_and_next_leads_to_the_next_of_the_list_and_not_of_one_s_own(
    desk: Client, company: Company, agent: Agent
) -> None:
    bob = build.agent("bob")
    build.ticket(company, agent=agent, status=Status.IN_REVIEW)
    for hours in range(2):
        due = NOON + timedelta(hours=hours)
        build.ticket(company, agent=bob, status=Status.IN_REVIEW, due_at=due)
    first, second = rows(desk, queue="overdue")
    carried = parse_qs(urlsplit(first.address).query)["list"][0]

    body = {**picked(first), "reason": "No.", "code": "other", "next": "1", "list": carried}
    answer = desk.post(f"{LIST}move/3/", body)
    assert answer["Location"] == second.address

    form = {"text": "Why?", "note": "1", "list": carried}
    first.refresh_from_db()
    answer = desk.post(f"{LIST}{first.pk}/write/", {**form, "seen": token(first)})
    assert answer["Location"] == first.address


def test_at_the_end_of_the_list_says_so_and_shows_it(
    desk: Client, company: Company, agent: Agent
) -> None:
    build.ticket(company, agent=agent, status=Status.IN_REVIEW)
    (only,) = rows(desk, queue="open")
    assert "End of All open" in desk.get(only.address).content.decode()
    carried = parse_qs(urlsplit(only.address).query)["list"][0]

    body = {"text": "Done.", "note": "1", "next": "1", "list": carried, "seen": token(only)}
    answer = desk.post(f"{LIST}{only.pk}/write/", body, follow=True)

    assert answer.context["cl"].queue.slug == "open"
    assert "That was the last ticket of “All open”." in answer.content.decode()


@pytest.mark.parametrize("action", ["move_to_declined", "give"])
def test_a_bulk_action_returns_to_the_page_of_the_list(
    lead: Client, company: Company, agent: Agent, action: str
) -> None:
    """Trap: an agent's own queue, which for a lead is empty."""
    for _ in range(28):
        build.ticket(company, agent=agent, status=Status.IN_REVIEW, type_id=4)
    query = urlencode({"queue": "open", "p": 2, "type": "4"})
    ticked = ids(rows(lead, queue="open", type="4", p=2))[:2]

    dialog = lead.post(f"{LIST}?{query}", {"action": action, "_selected_action": ticked})
    carried = unescape(dialog.content.decode().split('name="list" value="')[1].split('"')[0])
    giving = {"to": build.agent("bob", available=True).pk}
    tickets = picked(*Ticket.objects.filter(pk__in=ticked))
    body = {**tickets, "reason": "No.", "list": carried}
    body |= giving if action == "give" else {"code": "other"}
    answer = lead.post(f"{LIST}{'give' if action == 'give' else 'move/3'}/", body)

    assert answer["Location"] == f"{LIST}?{query}"


def test_a_list_of_a_million_is_walked_in_two_queries_without_an_offset(
    desk: Client, company: Company, agent: Agent
) -> None:
    several(company, agent)
    for query in ({"queue": "everyone"}, {"queue": "everything"}, {"queue": "overdue"}):
        address = rows(desk, **query)[1].address
        with CaptureQueriesContext(connection) as queries:
            desk.get(address)
        unions = [one["sql"] for one in queries if "UNION ALL" in one["sql"]]
        mine = [sql for sql in unions if "tickets_notification" not in sql]
        beside = [one["sql"] for one in queries if re.search(r'ticket"."id" IN \(\d', one["sql"])]

        assert (len(mine), len(beside)) == (1, 1)
        assert "OFFSET" not in mine[0]
        # Each part of the union has a limit of its own.
        assert mine[0].count("LIMIT") == mine[0].count("UNION ALL") + 1


@pytest.mark.parametrize(
    "query",
    [
        "queue=no-such-queue",
        "queue=mine&at=x.y",
        "queue=mine&at=" + "9" * 30 + ".1",
        "queue=mine&at=99999999999999999.1",
        "queue=mine&at=1",
        "company__name=Acme&password=x",
        "status=99&type=x",
        "a" * 5000,
        "q=%00",
        "o=99",
    ],
)
def test_a_list_that_makes_no_sense_is_no_reason_not_to_show_the_ticket(
    desk: Client, company: Company, agent: Agent, query: str
) -> None:
    ticket = build.ticket(company, agent=agent)

    answer = desk.get(f"{LIST}{ticket.pk}/change/", {"list": query})

    assert answer.status_code == 200
    assert "password" not in answer.context["walk"].place.token


def test_a_list_for_leads_is_none_for_agents(
    desk: Client, company: Company, agent: Agent, django_assert_num_queries: Callable[..., Any]
) -> None:
    own = build.ticket(company, agent=agent)
    build.ticket(company, agent=build.agent("bob"))

    walk = walk_from(desk, f"{LIST}{own.pk}/change/?list=queue%3Deveryone")

    assert (walk.title, walk.previous, walk.next) == ("Mine", None, None)


def test_oldest_first_is_one_click_away(desk: Client, company: Company) -> None:
    oldest, _, newest = (build.ticket(company).pk for _ in range(3))

    html = desk.get(LIST, {"queue": "open"}).content.decode()
    address = unescape(html.split('id="turn" href="')[1].split('"')[0])
    turned = desk.get(LIST + address)

    assert ids(turned.context["cl"].result_list)[0] == oldest
    assert "Newest first" in turned.content.decode()
    assert 'id="turn"' not in desk.get(LIST, {"queue": "mine"}).content.decode()
    assert ids(rows(desk, queue="everything", oldest="1"))[-1] == newest


def test_a_ticket_without_replies_shows_how_it_begins(desk: Client, company: Company) -> None:
    build.ticket(company, comments="The box came crushed. " + "x" * 300)

    html = desk.get(LIST, {"queue": "open"}).content.decode()

    assert "The box came crushed." in html
    assert "x" * 121 not in html


def test_a_list_is_found_by_its_own_words_whatever_the_page_is_asked_for(
    desk: Client, company: Company
) -> None:
    """Trap: a request's search words are parsed once, also for the list that it opens."""
    for text in ("Broken cup.", "Broken plate.", "Late."):
        build.ticket(company, comments=text)
    listed = rows(desk, q="broken")
    desk.get(LIST, {"q": "late"})
    cache.clear()

    walk = walk_from(desk, f"{listed[0].address}&q=late")

    assert (walk.title, walk.next.ticket_id) == ("Search", listed[1].pk)


def test_undated_tickets_come_after_the_dated_ones_however_many_they_are(
    lead: Client, company: Company
) -> None:
    dated = build.ticket(company, due_at=NOON)
    undated = [build.ticket(company).pk for _ in range(12)]
    order = keyset.order_columns(["due_at", "pk"])
    here = keyset.ticket_key(dated, order)
    tickets = Ticket.objects.all()

    earlier, later = keyset.around(tickets, order, here, 10, 25)

    assert (earlier, [key[-1] for key in later]) == ([], undated)
    assert keyset.count_before(tickets, order, here, 99) == 0
    last = keyset.ticket_key(Ticket.objects.get(pk=undated[-1]), order)
    assert keyset.count_before(tickets, order, last, 99) == 12
    earlier, later = keyset.around(tickets, order, last, 99, 25)
    assert ([key[-1] for key in earlier], later) == ([dated.pk, *undated[:-1]], [])
