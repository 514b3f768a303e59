"""The queues, their order, their badges and the pages of the list."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib import admin
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from companies.models import Company
from desk.queue import queues
from desk.queue.changelist import CappedPaginator
from desk.queue.rows import TicketRows
from tests import builders as build
from tickets.models import Agent, Comment, Ticket

LIST = "/admin/tickets/ticket/"


def listed(desk: Client, **query: Any) -> list[int]:
    answer = desk.get(LIST, query)
    assert answer.status_code == 200
    return [ticket.pk for ticket in answer.context["cl"].result_list]


def items(desk: Client, **query: Any) -> dict[str, dict[str, Any]]:
    groups = desk.get(LIST, query).context["sidebar_navigation"]
    return {item["title"]: item for item in groups[0]["items"]}


def hours(count: float) -> Any:
    return timezone.now() + timedelta(hours=count)


def test_opens_an_agent_s_own_queue_with_the_most_urgent_first(
    desk: Client, company: Company, agent: Agent
) -> None:
    """Trap: a list filter's order_by loses to the list's own order."""
    later = build.ticket(company, agent=agent, status=6, due_at=hours(5)).pk
    never = build.ticket(company, agent=agent, status=4).pk
    overdue = build.ticket(company, agent=agent, status=5, due_at=hours(-2)).pk
    build.ticket(company, agent=agent, status=2, due_at=hours(-9))
    build.ticket(company, agent=build.agent("bob"), status=6)

    assert listed(desk) == listed(desk, queue="mine") == [overdue, later, never]
    assert listed(desk, queue="overdue") == [overdue]


def test_opens_all_open_tickets_for_non_agents(operator: Client, company: Company) -> None:
    older, newer = (build.ticket(company).pk for _ in range(2))
    build.ticket(company, status=3)

    assert listed(operator) == [newer, older]
    assert listed(operator, queue="mine") == []
    assert listed(operator, queue="no-such-queue") == [newer, older]


def test_has_a_queue_for_each_thing_to_do(desk: Client, company: Company, agent: Agent) -> None:
    mine = build.ticket(company, agent=agent, status=4).pk
    others = build.ticket(company, agent=build.agent("bob"), status=10).pk
    nobodys = build.ticket(company, status=1).pk
    decided = build.ticket(company, status=2).pk

    assert listed(desk, queue="unassigned") == [nobodys]
    assert listed(desk, queue="waiting") == [mine]
    assert listed(desk, queue="claims") == [others]
    assert listed(desk, queue="open") == [nobodys, others, mine]
    assert listed(desk, queue="everything") == [decided, nobodys, others, mine]


def test_shows_a_lead_everyone_s_tickets_by_agent(
    client: Client, company: Company, agent: Agent
) -> None:
    bob = build.agent("bob")
    bobs = build.ticket(company, agent=bob, status=6, due_at=hours(1)).pk
    second = build.ticket(company, agent=agent, status=6, due_at=hours(3)).pk
    first = build.ticket(company, agent=agent, status=6, due_at=hours(2)).pk
    client.force_login(build.agent("eve", group="lead").user)

    assert listed(client, queue="everyone") == [first, second, bobs]
    assert "By agent" in items(client)


def test_keeps_everyone_s_from_agents(desk: Client, company: Company) -> None:
    build.ticket(company, agent=build.agent("bob"), status=6)

    assert listed(desk, queue="everyone") == []
    assert "By agent" not in items(desk)


def test_lights_up_one_queue_in_the_side_bar(desk: Client) -> None:
    """Trap: Unfold compares paths, so that all queues of a list light up at once."""
    for query, lit in (
        ({}, ["Mine"]),
        ({"queue": "overdue"}, ["Overdue"]),
        ({"queue": "overdue", "q": "x"}, ["Everything"]),
    ):
        badges = items(desk, **query)
        assert [title for title, item in badges.items() if item["active"]] == lit


def test_shows_how_many_up_to_a_thousand(
    desk: Client, company: Company, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queues, "MOST_SHOWN", 2)
    for _ in range(3):
        build.ticket(company, agent=agent)
    build.ticket(company, status=10)

    badges = items(desk)

    assert badges["Mine"]["badge"] == "2+"
    assert badges["Claim review"]["badge"] == "1"
    assert badges["Overdue"]["badge"] is None
    assert badges["Everything"]["badge"] is None


def test_counts_all_badges_in_one_statement_and_not_again_for_a_while(
    desk: Client, company: Company, agent: Agent
) -> None:
    address = "/admin/password_change/"
    with CaptureQueriesContext(
        connection,
    ) as first:
        desk.get(address)
    build.ticket(company, agent=agent)
    with CaptureQueriesContext(connection) as second:
        desk.get(address)

    assert sum("AS capped" in query["sql"] for query in first.captured_queries) == 1
    assert not any("tickets_ticket" in query["sql"] for query in second.captured_queries)


def test_counts_badges_each_time_while_the_cache_is_away(
    desk: Client, company: Company, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object, **__: object) -> None:
        raise ConnectionError

    build.ticket(company, agent=agent)
    monkeypatch.setattr(cache, "get", away, raising=False)

    assert items(desk)["Mine"]["badge"] == "1"


@pytest.mark.parametrize(("column", "key"), [("due", "due_at"), ("filing", "filing_due_at")])
def test_sorts_a_queue_by_a_deadline(desk: Client, company: Company, column: str, key: str) -> None:
    third, first, second = (
        build.ticket(company, **{key: at}).pk for at in (None, hours(1), hours(2))
    )

    for order in (column, f"-{column}"):
        assert listed(desk, queue="open", o=order) == [first, second, third]
    # This queue ignores the order: no index would serve it there.
    assert listed(desk, queue="everything", o=column) == [second, first, third]


def test_a_new_column_moves_nobody_s_sort(
    desk: Client, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    late, soon = (
        build.ticket(company, due_at=hours(hour), filing_due_at=hours(-hour)).pk for hour in (2, 1)
    )
    columns = ("ticket", "claimed", *TicketRows.list_display[1:])
    monkeypatch.setattr(admin.site.get_model_admin(Ticket), "list_display", columns)

    assert listed(desk, queue="open", o="due") == [soon, late]


def test_the_headings_sort_by_name_also_when_it_is_sorted(desk: Client, company: Company) -> None:
    build.ticket(company)
    pages = [desk.get(LIST, {"queue": "open", "o": order}) for order in ("", "due")]

    for page in pages:
        assert set(re.findall(r'href="\?o=([^&"]*)', page.content.decode())) - {""} == {
            "due",
            "filing",
        }


@pytest.mark.parametrize("order", ["1", "4", "-4", "99", "-", "x", "\u0661", "4.1", "9" * 30])
def test_sorts_by_nothing_else(desk: Client, company: Company, order: str) -> None:
    newest_first = [build.ticket(company).pk for _ in range(3)][::-1]

    assert listed(desk, queue="open", o=order) == newest_first


def test_lists_many_in_as_many_queries_as_one(
    desk: Client, company: Company, agent: Agent, django_assert_num_queries: Callable[..., Any]
) -> None:
    """Trap: one query per row for the last comment, the agent or the shipment."""
    shipment = build.shipment(company)
    for number in range(26):
        one = build.ticket(company, agent=build.agent(f"agent-{number}"), shipment_id=shipment.pk)
        Comment.objects.create(
            ticket=one, by="agent", text="hi", status=1, created_at=timezone.now()
        )
    build.ticket(company, agent=agent)
    desk.get(LIST)

    # Session, user, two for permissions, the count, the page, and what its rows peek at.
    for query, rows in (({"queue": "open"}, 25), ({"queue": "mine"}, 1)):
        with django_assert_num_queries(8):
            assert len(listed(desk, **query)) == rows
    # Further: the query's lexemes, the ticket and companies that it may name, and the matches. The
    # names of agents, carriers and types were cached by the previous search.
    listed(desk, q="any", queue="everything")
    with django_assert_num_queries(12):
        assert len(listed(desk, q="hi")) == 25


def test_asks_for_no_facets_whatever_the_address_says(desk: Client, company: Company) -> None:
    """Trap: facets count every choice of every filter; so does the button that offers them."""
    build.ticket(company)
    desk.get(LIST)
    with CaptureQueriesContext(connection) as plain:
        desk.get(LIST, {"queue": "open"})
    with CaptureQueriesContext(connection) as queries:
        html = desk.get(LIST, {"queue": "open", "_facets": "True"}).content.decode()

    assert len(queries) == len(plain)
    assert "_facets=True" not in html.replace("_facets=True&amp;", "")


def test_counting_is_bounded(company: Company, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trap: a full count of all results, on each page."""
    monkeypatch.setattr("desk.queue.changelist.MOST_COUNTED", 3)
    for _ in range(5):
        build.ticket(company)
    pages = CappedPaginator(Ticket.objects.order_by("-pk"), 2)

    with CaptureQueriesContext(connection) as queries:
        assert (pages.count, pages.has_more, pages.num_pages) == (3, True, 2)
    assert ["LIMIT 4" in query["sql"] for query in queries.captured_queries] == [True]


@pytest.mark.parametrize(
    ("page", "expected"), [("2", 2), ("3", 2), ("99999999", 2), ("0", 1), ("-5", 1), ("x", 1)]
)
def test_page_out_of_range_shows_the_nearest(
    desk: Client, company: Company, page: str, expected: int
) -> None:
    for _ in range(27):
        build.ticket(company)

    answer = desk.get(LIST, {"queue": "open", "p": page})

    assert answer.status_code == 200
    assert answer.context["cl"].page_num == expected


def test_shows_no_more_than_a_page(desk: Client, company: Company) -> None:
    for _ in range(27):
        build.ticket(company)

    assert len(listed(desk, queue="open", all="")) == 25


def test_acts_on_what_was_ticked_also_when_it_has_left_the_queue(
    desk: Client, company: Company, agent: Agent
) -> None:
    ticket = build.ticket(company, agent=agent, status=3)
    action = {"action": "move_to_incomplete", "_selected_action": [ticket.pk]}

    html = desk.post(f"{LIST}?queue=mine", action).content.decode()
    assert f'name="ticket" value="{ticket.pk}"' in html

    html = desk.post(f"{LIST}?queue=mine", {**action, "select_across": "1"}).content.decode()
    assert 'name="ticket"' not in html
