"""Open pages learn what happens: changed tickets and notifications."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from companies.models import Company
from desk.live import changes, places, polling, waiting
from desk.people import session_list
from tests import builders as build
from tickets import updating, working
from tickets.assignment import reassigning
from tickets.changes.actors import Actor
from tickets.changes.notifications import mark_read
from tickets.changes.page_tokens import page_token_of
from tickets.changes.snoozing import snooze, wake_due
from tickets.changes.watching import start_watching
from tickets.models import Agent, Notification, Snooze, Ticket
from tickets.statuses import By, Status

LIVE = "/admin/live/"
MINE = "/admin/live/mine/"
ALL = "/admin/notifications/"
ACME = Actor(By.COMPANY, "acme")
NOTHING: dict[str, list[str]] = {"changed": [], "entered": [], "mine": []}


class Clock:
    """Clock of the web process; a page asks every two seconds."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return changes.time.time() + self.now


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    watcher = changes.Watcher()
    monkeypatch.setattr(watcher, "clock", clock)
    for module in (polling, waiting):
        monkeypatch.setattr(module, "WATCHER", watcher)
    monkeypatch.setattr(polling.ASKERS, "entries", OrderedDict())
    # A test of the web server may have run in this process before.
    monkeypatch.setattr(polling.Server, "keeps_requests", False)
    return clock


@pytest.fixture
def ticket(company: Company, agent: Agent) -> Ticket:
    return build.ticket(company, agent=agent)


@pytest.fixture
def lead(db: None) -> User:
    return build.agent("eve", group="lead", available=False).user


class Page:
    """An open page that polls, and reports what it has heard so far."""

    def __init__(self, desk: Client, clock: Clock, **shows: object) -> None:
        self.desk, self.clock, self.shows = desk, clock, shows
        self.since = 0.0
        self.changes: set[str] = set()
        self.counters: dict[str, object] = {}
        self.ask()

    def asking(self) -> dict[str, object]:
        return {**self.shows, "since": self.since, "known": ",".join(self.changes), **self.counters}

    def ask(self) -> dict[str, Any]:
        self.clock.now += 5
        news: dict[str, Any] = {**NOTHING, **self.desk.get(LIVE, self.asking()).json()}
        self.since = news["now"]
        self.counters = {"counted": news["counted"], "notified": news["notified"]}
        for what in NOTHING:
            self.changes |= set(news[what])
        return news


def test_a_ticket_s_page_hears_of_each_change_once_and_with_the_token_that_forms_carry(
    desk: Client, clock: Clock, company: Company, ticket: Ticket, agent: Agent
) -> None:
    page = Page(desk, clock, ticket=ticket.pk)
    assert page.ask()["changed"] == []

    updating.comment(company, ticket.pk, ACME, "Where is it?")
    updating.comment(company, build.ticket(company).pk, ACME, "Another one.")
    assert page.ask()["changed"] == [str(page_token_of(ticket))]
    assert page.ask()["changed"] == []

    working.move(ticket.pk, Status.IN_REVIEW, user=agent.user)
    assert page.ask()["changed"] == [str(page_token_of(ticket))]


def test_late_commit_is_not_missed(
    desk: Client, clock: Clock, company: Company, ticket: Ticket, agent: Agent
) -> None:
    """Find lower ids that come after higher ones: ids are assigned before the commit."""
    other = build.ticket(company, agent=agent)
    page = Page(desk, clock, shown=f"{ticket.pk},{other.pk}")
    updating.comment(company, ticket.pk, ACME, "First.")
    updating.comment(company, other.pk, ACME, "Second.")
    lower, higher = (one.conversation.get() for one in (ticket, other))
    with connection.cursor() as cursor:
        cursor.execute("UPDATE tickets_comment SET ticket_id = %s WHERE id = %s", [0, lower.pk])
        assert page.ask()["changed"] == [f"{other.pk}-{higher.pk}-0"]
        cursor.execute(
            "UPDATE tickets_comment SET ticket_id = %s WHERE id = %s", [ticket.pk, lower.pk]
        )

    assert page.ask()["changed"] == [f"{ticket.pk}-{lower.pk}-0"]


@pytest.mark.parametrize(
    ("queue", "enters"),
    [("mine", True), ("unassigned", False), ("open", False), ("overdue", False)],
)
def test_a_list_hears_which_tickets_came_into_its_queue(
    desk: Client,
    clock: Clock,
    company: Company,
    agent: Agent,
    lead: User,
    queue: str,
    enters: bool,
) -> None:
    free = build.ticket(company)
    page = Page(desk, clock, queue=queue)

    reassigning.reassign(free.pk, agent, user=lead)

    assert page.ask()["entered"] == [str(page_token_of(free))] * enters


def test_a_comment_brings_no_ticket_into_a_queue_that_it_was_in(
    desk: Client, clock: Clock, company: Company, ticket: Ticket
) -> None:
    page = Page(desk, clock, queue="mine", shown=str(ticket.pk))

    updating.comment(company, ticket.pk, ACME, "Where is it?")

    news = page.ask()
    assert news["entered"] == []
    assert news["changed"] == [str(page_token_of(ticket))]
    assert news["mine"] == [str(page_token_of(ticket))]
    assert page.ask()["news"] is False


def test_a_list_hears_of_what_is_snoozed_and_what_comes_back(
    desk: Client, clock: Clock, ticket: Ticket, agent: Agent
) -> None:
    page = Page(desk, clock, shown=ticket.pk, queue="mine")
    page.ask()

    snooze(ticket.pk, None, user=agent.user)
    assert page.ask()["changed"]
    Snooze.objects.update(until=timezone.now())
    wake_due()

    news = page.ask()
    assert len(news["entered"]) == 1
    assert news["notified"]


def test_only_leads_hear_of_the_queues_of_leads(
    desk: Client, clock: Clock, company: Company, agent: Agent, lead: User
) -> None:
    leads = Client()
    leads.force_login(lead)
    pages = [Page(client, clock, queue="everyone") for client in (desk, leads)]
    free = build.ticket(company)

    reassigning.reassign(free.pk, agent, user=lead)

    answers = [page.ask() for page in pages]
    assert [news["entered"] for news in answers] == [[], [str(page_token_of(free))]]
    counts = [client.get(LIVE).json()["counts"] for client in (desk, leads)]
    assert ["everyone" in one for one in counts] == [False, True]


class AsSent(NamedTuple):
    """A request as the web server has it."""

    query: str
    headers: list[tuple[str, str]]
    path: str = LIVE
    method: str = "GET"


def test_a_known_page_waits_until_there_is_news_for_it(
    desk: Client,
    clock: Clock,
    company: Company,
    ticket: Ticket,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def request_as_sent(page: Page, **changes: object) -> AsSent:
        cookie = ("COOKIE", f"sessionid={desk.cookies['sessionid'].value}")
        return AsSent(urlencode({**page.asking(), "wait": 1, **changes}), [cookie])

    page = Page(desk, clock, ticket=ticket.pk)
    page.ask()
    assert page.ask()["waits"] is False
    monkeypatch.setattr(polling.Server, "keeps_requests", True)
    assert page.ask()["waits"] is True
    mine, other = request_as_sent(page), request_as_sent(page, ticket=0)
    stranger = mine._replace(headers=[("COOKIE", "sessionid=made-up")])

    assert [waiting.may_wait(one) for one in (mine, other, stranger)] == [True, True, False]
    assert not waiting.may_wait(mine._replace(query=mine.query.replace("wait=1", "")))
    assert not waiting.may_wait(mine._replace(path="/admin/"))
    clock.now += 1
    assert waiting.have_news([mine, other]) == [False, False]

    Ticket.objects.update(agent=None)
    updating.comment(company, ticket.pk, ACME, "Where is it?")
    clock.now += 1
    assert waiting.have_news([mine, other]) == [True, False]
    # The page of a user who was signed out meanwhile is answered at once.
    desk.post("/admin/logout/")
    assert waiting.have_news([mine, other]) == [True, True]


def test_after_a_long_pause_a_page_is_told_to_look_at_everything(
    desk: Client, clock: Clock, ticket: Ticket
) -> None:
    page = Page(desk, clock, ticket=ticket.pk)
    clock.now += 120

    assert page.ask()["stale"] is True


def test_who_is_not_signed_in_hears_nothing(
    client: Client, desk: Client, clock: Clock, lead: User
) -> None:
    for address in (LIVE, MINE, ALL):
        assert client.get(address).status_code in (302, 401)
        assert b"now" not in client.get(address).content

    assert desk.get(LIVE).status_code == 200
    cookie = desk.cookies["sessionid"].value
    desk.post("/admin/logout/")
    client.cookies["sessionid"] = cookie
    assert client.get(LIVE).status_code == 401


def test_who_sees_no_tickets_hears_nothing(client: Client, db: None) -> None:
    nobody = User.objects.create_user("nobody", password="secret", is_staff=True)
    client.force_login(nobody)

    assert client.get(LIVE).status_code == 401
    assert client.get(MINE).status_code == 403
    assert client.get(ALL).status_code == 403
    assert 'id="desk-bell"' not in client.get("/admin/").content.decode()


def test_user_without_second_factor_hears_nothing(desk: Client) -> None:
    session = desk.session
    session["second_factor"] = "code"
    session.save()

    assert desk.get(LIVE).status_code == 302


@pytest.mark.parametrize("query", ["since=nan", "since=1e999", "since=x", "queue=x&shown=%00,x"])
def test_invalid_queries_get_an_empty_answer(desk: Client, query: str) -> None:
    answer = desk.get(f"{LIVE}?{query}").json()

    assert answer.get("changed", []) == []


def test_polling_costs_no_query_and_many_pages_cost_one(
    desk: Client, clock: Clock, company: Company, ticket: Ticket
) -> None:
    page = Page(desk, clock, ticket=ticket.pk)
    page.ask()
    with CaptureQueriesContext(connection) as quiet:
        for _ in range(5):
            desk.get(LIVE, {"since": page.since, "ticket": ticket.pk})
    updating.comment(company, ticket.pk, ACME, "Where is it?")
    clock.now += 1
    with CaptureQueriesContext(connection) as busy:
        answers = [
            desk.get(LIVE, {"since": page.since, "ticket": ticket.pk}).json() for _ in range(5)
        ]

    assert [len(answer["changed"]) for answer in answers] == [1] * 5
    assert len(quiet) == 0
    assert len(busy) <= 7


def test_the_bell_says_what_somebody_was_notified_of(
    desk: Client, clock: Clock, company: Company, ticket: Ticket, agent: Agent
) -> None:
    page = Page(desk, clock)
    assert page.ask()["notified"] == 0

    updating.comment(company, ticket.pk, ACME, "Where is it?")

    assert page.ask()["notified"] > 0
    mine = desk.get(MINE).json()
    assert mine["unread"] == 1
    assert mine["newest"][0]["text"] == f"Acme answered on ticket #{ticket.pk}."
    assert mine["newest"][0]["link"] == f"/admin/tickets/ticket/{ticket.pk}/change/"
    assert mine["counts"]["mine"] == "1"


def test_the_bell_knows_nothing_of_others(
    desk: Client, clock: Clock, company: Company, lead: User
) -> None:
    eve = Agent.objects.get(user=lead)
    page = Page(desk, clock)

    updating.comment(company, build.ticket(company, agent=eve).pk, ACME, "Where is it?")

    assert page.ask()["notified"] == 0
    assert desk.get(MINE).json()["unread"] == 0
    assert "answered on" not in desk.get(ALL).content.decode()


def test_notifications_are_listed_and_marked_as_read_one_or_all(
    desk: Client, company: Company, ticket: Ticket, agent: Agent, lead: User
) -> None:
    other = build.ticket(company, agent=agent)
    updating.comment(company, ticket.pk, ACME, "Where is it?")
    working.write(other.pk, "Look, @ada.", user=lead, public=False)
    start_watching(other.pk, user=agent.user)

    html = desk.get(ALL).content.decode()
    assert f"eve mentioned you on ticket #{other.pk}." in html
    assert html.count("desk-unread-one") == 2

    desk.post(f"{ALL}read/", {"ticket": ticket.pk})
    assert [one.ticket_id for one in Notification.objects.unread()] == [other.pk]
    assert desk.get(f"{ALL}read/").status_code == 405
    assert desk.post(f"{ALL}read/", {"ticket": "x"}).status_code == 403
    desk.post(f"{ALL}read/")
    assert not Notification.objects.unread().exists()
    assert desk.get(ALL).content.decode().count("desk-unread-one") == 0


def test_opening_a_ticket_marks_its_notifications_as_read(
    desk: Client, company: Company, ticket: Ticket, agent: Agent
) -> None:
    other = build.ticket(company, agent=agent)
    for one in (ticket, other):
        updating.comment(company, one.pk, ACME, "Where is it?")

    page = desk.get(f"/admin/tickets/ticket/{ticket.pk}/change/").content.decode()

    assert 'data-unread="1"' in page
    assert [one.ticket_id for one in Notification.objects.unread()] == [other.pk]


def test_marking_as_read_waits_for_no_lock(company: Company, ticket: Ticket, agent: Agent) -> None:
    updating.comment(company, ticket.pk, ACME, "Where is it?")
    with CaptureQueriesContext(connection) as queries:
        assert mark_read(agent.user) == 1

    assert any("SKIP LOCKED" in one["sql"] for one in queries.captured_queries)


def test_change_found_by_another_process_is_still_reported() -> None:
    place = places.TicketPlace(frozenset(), None, frozenset())
    kinds = frozenset({"moved"})
    results = {
        at: changes.ChangedTicket(at, 1, 1, kinds, place, float(at)) for at in (90, 97, 98, 99, 100)
    }
    snapshot = changes.Snapshot(at=100, changes=results)

    assert [one.ticket_id for one in snapshot.since(100)] == [98, 99, 100]


def switch_off(user: User) -> None:
    User.objects.filter(pk=user.pk).update(is_active=False)


def end_their_sessions(user: User) -> None:
    session_list.end_everywhere(user)


def change_password(user: User) -> None:
    user.set_password("another")
    user.save()


@pytest.mark.parametrize(
    "end", [switch_off, end_their_sessions, change_password], ids=lambda each: each.__name__
)
def test_the_numbers_end_with_the_session(
    desk: Client, clock: Clock, ticket: Ticket, agent: Agent, end: Callable[[User], None]
) -> None:
    page = Page(desk, clock, ticket=ticket.pk)
    page.ask()
    cookie = ("COOKIE", f"sessionid={desk.cookies['sessionid'].value}")
    waits = AsSent(urlencode({**page.asking(), "wait": 1}), [cookie])
    assert waiting.may_wait(waits)
    assert waiting.have_news([waits]) == [False]
    colleague = Client()
    colleague.force_login(build.agent("eve").user)
    Page(colleague, clock).ask()

    end(agent.user)
    clock.now += 1

    assert waiting.have_news([waits]) == [True], "it is answered now, and not by its time"
    assert desk.get(LIVE).status_code in (302, 401)
    assert not waiting.may_wait(waits)
    assert colleague.get(LIVE).status_code == 200
