"""A storm from the first burst of tickets to the last reply."""

import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from companies.models import Company
from core.models import FailedRow
from desk import jobs
from desk.models import Storm, StormReply
from desk.storms import replies, services
from desk.ticket import page_context
from tests import builders as build
from tickets import working
from tickets.models import Agent, Comment, Ticket
from tickets.statuses import Status

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
STORM = "/admin/desk/storm/"
PROPOSED, OPEN, DISMISSED, CLOSED = Storm.State


def heap(company: Company, number: int, at: datetime = NOON, **changes: Any) -> list[Ticket]:
    """Create tickets about a carrier, all within the previous hour."""
    values = {
        "carrier_name": "redpack",
        "updated_at": at,
        "created_at": at - HOUR / 2,
        "type_id": 3,
    }
    tickets = [Ticket(company=company, **{**values, **changes}) for _ in range(number)]
    return Ticket.objects.bulk_create(tickets)


def storm(**changes: Any) -> Storm:
    values = {"carrier_name": "redpack", "hour": NOON - HOUR, "found": 12, "usual": 1.0}
    return Storm.objects.create(**{**values, "state": OPEN, "title": "Strike", **changes})


@pytest.fixture
def eve(db: None) -> Agent:
    return build.agent("eve", group="lead", available=False)


@pytest.fixture
def lead(eve: Agent) -> Client:
    client = Client()
    client.force_login(eve.user)
    return client


def test_proposes_a_storm_and_no_second_one_beside_it(company: Company) -> None:
    heap(company, 12)
    heap(company, 3, carrier_name="dhl")
    heap(company, 30, carrier_name="")

    (proposed,) = services.watch(NOON)

    assert (proposed.carrier_name, proposed.state, proposed.found) == ("redpack", PROPOSED, 12)
    assert (proposed.usual, proposed.hour) == (1.0, NOON - HOUR)
    assert services.watch(NOON + HOUR / 4) == []
    assert not proposed.tickets.exists()


def test_storm_that_a_lead_has_just_opened_is_not_withdrawn(company: Company, eve: Agent) -> None:
    heap(company, 12)
    (proposed,) = services.watch(NOON)
    services.decide(proposed.pk, OPEN, user=eve.user, title="Strike")

    # The watch still has it as proposed, since it read it earlier.
    services.withdraw_if_over(proposed, Counter(), NOON + 2 * HOUR)

    assert Storm.objects.get().state == OPEN


def test_takes_spellings_in_another_case_for_the_same_carrier(company: Company, eve: Agent) -> None:
    heap(company, 7, carrier_name="FedEx")
    heap(company, 6, carrier_name="FEDEX")
    heap(company, 6, carrier_name="fedora")

    (proposed,) = services.watch(NOON)

    assert (proposed.carrier_name, proposed.found) == ("FedEx", 13)
    assert services.watch(NOON + HOUR / 4) == []
    services.decide(proposed.pk, OPEN, user=eve.user, title="Strike")
    assert proposed.tickets.count() == 13


def test_one_carrier_that_fails_keeps_no_other(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("dhl", "redpack", "ups"):
        heap(company, 12, carrier_name=name)
    real = services.make_proposal

    def fail(heaps: Any, key: str, *args: Any) -> Storm:
        if key == "dhl":
            raise ZeroDivisionError
        return real(heaps, key, *args)

    monkeypatch.setattr(services, "make_proposal", fail)
    opened = [storm(carrier_name=name) for name in ("a", "b")]
    link = services.link_tickets_to_storm
    heap(company, 1, carrier_name="b")

    def fail_for_one(storm_id: int) -> None:
        if storm_id == opened[0].pk:
            raise ZeroDivisionError
        link(storm_id)

    monkeypatch.setattr(services, "link_tickets_to_storm", fail_for_one)

    assert [one.carrier_name for one in services.watch(NOON)] == ["redpack", "ups"]
    assert opened[1].tickets.count() == 1
    rows = FailedRow.objects.filter(job="watch_for_storms").order_by("pk")
    assert [str(row) for row in rows] == ["carrier dhl", f"storm {opened[0].pk}"]


def test_one_proposal_that_fails_keeps_no_other(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = [storm(carrier_name=name, state=PROPOSED, hour=NOON - 9 * HOUR) for name in ("a", "b")]
    real = services.withdraw_if_over

    def fail(one: Storm, *args: Any) -> None:
        if one.carrier_name == "a":
            raise ZeroDivisionError
        real(one, *args)

    monkeypatch.setattr(services, "withdraw_if_over", fail)
    services.watch(NOON)

    states = [Storm.objects.get(pk=one.pk).state for one in old]
    assert states == [PROPOSED, Storm.State.DISMISSED]
    assert FailedRow.objects.get().key == str(old[0].pk)


def test_compares_with_the_same_hour_of_the_weeks_before(company: Company) -> None:
    for week in range(1, 5):
        heap(company, 12, NOON - timedelta(weeks=week))
    heap(company, 14)
    assert services.watch(NOON) == []

    # The same number is usual at noon, and a storm at night.
    heap(company, 14, NOON + 14 * HOUR)
    assert len(services.watch(NOON + 14 * HOUR)) == 1


def test_withdraws_a_proposal_that_nobody_opened(company: Company) -> None:
    heap(company, 12)
    (proposed,) = services.watch(NOON)

    services.watch(NOON + HOUR / 2)
    proposed.refresh_from_db()
    assert proposed.state == PROPOSED

    services.watch(NOON + 2 * HOUR)
    proposed.refresh_from_db()
    assert (proposed.state, proposed.decided_by) == (DISMISSED, "")


def test_lets_a_carrier_rest_after_a_lead_has_decided(company: Company, eve: Agent) -> None:
    now = timezone.now()
    heap(company, 12, now)
    (proposed,) = services.watch(now)
    services.decide(proposed.pk, DISMISSED, user=eve.user)
    assert services.watch(now) == []

    later = now + timedelta(hours=7)
    heap(company, 12, later)
    assert len(services.watch(later)) == 1


def test_opens_with_its_tickets_and_those_that_come(company: Company, eve: Agent) -> None:
    ids = heap(company, 12)
    heap(company, 1, status=Status.ACCEPTED)
    heap(company, 1, NOON - 3 * HOUR)
    heap(company, 1, carrier_name="dhl")
    proposed = storm(state=PROPOSED, title="")

    services.decide(proposed.pk, OPEN, user=eve.user, title=" Strike at the hub ")

    proposed.refresh_from_db()
    assert (proposed.state, proposed.title) == (OPEN, "Strike at the hub")
    assert (proposed.decided_by, proposed.closed_at) == ("eve", None)
    assert set(proposed.tickets.all()) == set(ids)

    (more,) = heap(company, 1, NOON + HOUR)
    jobs.watch_for_storms()
    assert set(proposed.tickets.all()) == {*ids, more}
    assert list(page_context.storms_of(more)) == [proposed]

    services.decide(proposed.pk, CLOSED, user=eve.user)
    heap(company, 1, NOON + HOUR)
    jobs.watch_for_storms()
    assert proposed.tickets.count() == 13


@pytest.mark.parametrize(
    ("state", "to"),
    [(OPEN, OPEN), (OPEN, DISMISSED), (PROPOSED, CLOSED), (CLOSED, OPEN), (DISMISSED, PROPOSED)],
)
def test_refuses_impossible_transitions(eve: Agent, state: str, to: str) -> None:
    open_storm = storm(state=state)

    with pytest.raises(services.StormRefused):
        services.decide(open_storm.pk, Storm.State(to), user=eve.user, title="x")

    open_storm.refresh_from_db()
    assert (open_storm.state, open_storm.decided_by) == (state, "")


def test_replies_to_every_company_once(company: Company, eve: Agent) -> None:
    tickets = heap(company, 3)
    open_storm = storm()
    services.link_tickets_to_storm(open_storm.pk)
    Ticket.objects.filter(pk=tickets[1].pk).update(status=Status.ACCEPTED)
    key = uuid4()

    done_replies = [
        replies.start_reply(open_storm.pk, "Late.", user=eve.user, key=key) for _ in range(2)
    ]

    assert done_replies[0] == done_replies[1]
    assert str(done_replies[0]) == "2 answered, 1 closed meanwhile"
    comments = list(
        Comment.objects.order_by("ticket").values_list("ticket", "actor", "public", "text")
    )
    assert comments == [(ticket.pk, "eve", True, "Late.") for ticket in (tickets[0], tickets[2])]


def test_goes_on_where_it_stopped(
    company: Company, eve: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    heap(company, 7)
    open_storm = storm()
    services.link_tickets_to_storm(open_storm.pk)
    monkeypatch.setattr(replies, "AT_ONCE", 3)
    monkeypatch.setattr(replies, "ring_reply_job", lambda: None)
    reply = replies.start_reply(open_storm.pk, "Late.", user=eve.user, key=uuid4())
    assert not Comment.objects.exists()
    # Tickets that come after the reply are answered by the next one.
    heap(company, 1)
    services.link_tickets_to_storm(open_storm.pk)

    assert replies.answer_batch(reply.pk)
    assert Comment.objects.count() == 3
    # A batch that crashes leaves nothing behind, neither texts nor its cursor.
    write, remaining = working.write, [1]

    def die_at_the_second(*args: Any, **kwargs: Any) -> None:
        if not remaining:
            raise KeyboardInterrupt
        remaining.pop()
        write(*args, **kwargs)

    with monkeypatch.context() as broken:
        broken.setattr(working, "write", die_at_the_second)
        with pytest.raises(KeyboardInterrupt):
            replies.continue_replies()
    assert Comment.objects.count() == 3

    jobs.answer_storms()

    reply.refresh_from_db()
    assert (reply.answered, reply.closed, bool(reply.finished_at)) == (7, 0, True)
    assert Comment.objects.values("ticket").distinct().count() == Comment.objects.count() == 7
    jobs.answer_storms()
    assert Comment.objects.count() == 7


def test_a_ticket_that_cannot_be_answered_is_named(
    lead: Client, eve: Agent, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    tickets = heap(company, 5)
    open_storm = storm()
    services.link_tickets_to_storm(open_storm.pk)
    Ticket.objects.filter(pk=tickets[1].pk).update(status=Status.ACCEPTED)
    write = working.write

    def fail_for_one(ticket_id: int, *args: Any, **kwargs: Any) -> None:
        write(ticket_id, *args, **kwargs)
        if ticket_id == tickets[3].pk:
            raise ZeroDivisionError("by zero")

    monkeypatch.setattr(working, "write", fail_for_one)
    reply = replies.start_reply(open_storm.pk, "Late.", user=eve.user, key=uuid4())

    assert str(reply) == "3 answered, 1 closed meanwhile, 1 failed"
    assert reply.finished_at
    answered = {tickets[place].pk for place in (0, 2, 4)}
    assert set(Comment.objects.values_list("ticket", flat=True)) == answered
    html = lead.get(f"{STORM}{open_storm.pk}/change/").content.decode()
    assert (
        f'href="/admin/tickets/ticket/{tickets[3].pk}/change/">Ticket {tickets[3].pk}</a>' in html
    )
    assert "was not answered: <bdi>ZeroDivisionError: by zero</bdi>" in html


def test_a_reply_that_fails_keeps_no_other(
    eve: Agent, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replies, "AT_ONCE", 0)
    monkeypatch.setattr(replies, "ring_reply_job", lambda: None)
    done_replies = []
    for name in ("dhl", "ups"):
        heap(company, 2, carrier_name=name)
        open_storm = storm(carrier_name=name)
        services.link_tickets_to_storm(open_storm.pk)
        done_replies.append(replies.start_reply(open_storm.pk, "Late.", user=eve.user, key=uuid4()))
    monkeypatch.setattr(replies, "AT_ONCE", 50)
    monkeypatch.setattr(replies, "BATCHES", 2)
    answer = replies.answer_batch

    def fail_for_the_first(reply_id: int) -> bool:
        if reply_id == done_replies[0].pk:
            raise ZeroDivisionError
        return answer(reply_id)

    monkeypatch.setattr(replies, "answer_batch", fail_for_the_first)

    jobs.answer_storms()

    assert StormReply.objects.get(finished_at=None) == done_replies[0]
    assert Comment.objects.count() == 2


def test_stops_when_the_lead_loses_the_role(
    company: Company, eve: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    heap(company, 4)
    open_storm = storm()
    services.link_tickets_to_storm(open_storm.pk)
    monkeypatch.setattr(replies, "AT_ONCE", 2)
    monkeypatch.setattr(replies, "ring_reply_job", lambda: None)
    reply = replies.start_reply(open_storm.pk, "Late.", user=eve.user, key=uuid4())
    eve.user.groups.clear()

    replies.continue_replies()

    reply.refresh_from_db()
    assert (reply.answered, reply.stopped) == (0, "eve is not allowed to manage storms.")
    assert reply.finished_at
    assert not Comment.objects.exists()


def test_a_lead_walks_a_storm_at_the_desk(lead: Client, company: Company) -> None:
    heap(company, 2)
    proposal = storm(state=PROPOSED, title="")

    def post(way: str, **body: Any) -> str:
        return lead.post(f"{STORM}{proposal.pk}/{way}/", body, follow=True).content.decode()

    assert "Open the storm" in lead.get(f"{STORM}{proposal.pk}/change/").content.decode()
    assert "Say what happened" in post("decide/open", title=" ")
    assert "2 tickets\n    (1 company)" in post("decide/open", title="Strike")

    body = {"key": uuid4(), "text": "The carrier is on <strike>."}
    html = post("reply", **body)
    assert "2 answered." in html
    assert "on &lt;strike&gt;." in html
    post("reply", **body)
    assert Comment.objects.count() == 2
    assert "Write something." in post("reply", key=uuid4())

    assert "There is nothing left to do. State: Closed." in post("decide/closed")
    assert Storm.objects.get().closed_at


def test_agents_read_and_decide_nothing(desk: Client, company: Company) -> None:
    heap(company, 2)
    open_storm = storm()
    services.link_tickets_to_storm(open_storm.pk)
    page = f"{STORM}{open_storm.pk}/"

    html = desk.get(f"{page}change/").content.decode()
    assert "2 tickets\n    (1 company)" in html
    assert "Reply to all" not in html
    before = list(Storm.objects.values())
    for way, body in (("open", {"title": "x"}), ("closed", {}), ("dismissed", {})):
        assert desk.post(f"{page}decide/{way}/", body).status_code == 403
    assert desk.post(f"{page}reply/", {"key": uuid4(), "text": "x"}).status_code == 403
    assert desk.post(f"{page}change/", {"state": "closed"}).status_code == 403

    assert list(Storm.objects.values()) == before
    assert not StormReply.objects.exists()
    assert not Comment.objects.exists()


def test_changes_nothing_on_get_and_survives_addresses_of_nothing(lead: Client) -> None:
    proposal = storm(state=PROPOSED)

    for way in ("decide/open", "decide/dismissed", "reply"):
        assert lead.get(f"{STORM}{proposal.pk}/{way}/").status_code == 405
    assert lead.post(f"{STORM}{proposal.pk}/decide/proposed/").status_code == 404
    assert lead.post(f"{STORM}999/decide/dismissed/").status_code == 404
    assert Storm.objects.get().state == PROPOSED


def test_shows_many_tickets_in_as_many_queries_as_one(
    lead: Client, company: Company, django_assert_max_num_queries: Any
) -> None:
    open_storm = storm()
    heap(company, 30)
    services.link_tickets_to_storm(open_storm.pk)
    lead.get(f"{STORM}{open_storm.pk}/change/")

    with django_assert_max_num_queries(10):
        answer = lead.get(f"{STORM}{open_storm.pk}/change/")
    assert answer.status_code == 200
    # Nine tickets and a link to all of them.
    assert len(set(re.findall(rb"/admin/tickets/ticket/(\d+)/", answer.content))) > 1


def test_its_tickets_are_a_list_that_can_be_walked_from_one_to_the_next(
    lead: Client, company: Company
) -> None:
    tickets = heap(company, 4)
    heap(company, 2)
    linked = [tickets[0], tickets[1], tickets[3]]
    opened = storm()
    opened.tickets.set(linked)
    newest_first = [one.pk for one in reversed(linked)]

    html = lead.get(f"{STORM}{opened.pk}/change/").content.decode()

    links = re.findall(r'href="(/admin/tickets/ticket/\d+/change/[^"]*)"', html)
    walks = [lead.get(link).context["walk"] for link in links]
    assert [walk.ticket_id for walk in walks] == newest_first
    assert [one.ticket_id for one in walks[0].after] == newest_first[1:]
    (list_link,) = re.findall(r'href="(/admin/tickets/ticket/\?[^"]*storm=[^"]*)"', html)
    listed = lead.get(list_link.replace("&amp;", "&"))
    assert [one.pk for one in listed.context["cl"].result_list] == newest_first
    assert "Strike" in listed.content.decode()
    unknown = lead.get("/admin/tickets/ticket/?queue=everything&storm=x")
    assert list(unknown.context["cl"].result_list) == []
