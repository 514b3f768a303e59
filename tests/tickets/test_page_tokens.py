"""Nobody decides on what they have not read: every kind of write, after every kind of act."""

from collections.abc import Callable
from functools import partial

import pytest
from django.contrib.auth.models import User

from companies.models import Company
from tests import builders as build
from tests.tickets.racing import in_order
from tickets import updating, working
from tickets.assignment import automatic, reassigning, taking
from tickets.assignment.handing_over import hand_over
from tickets.changes import appeals, files
from tickets.changes.actors import Actor
from tickets.changes.history import record_history
from tickets.changes.page_tokens import PageToken, page_token_of, require_page_token, unread_since
from tickets.changes.writes import StaleTicket
from tickets.history_codes import QUIET, Kind
from tickets.models import Agent, Comment, HistoryEntry, Ticket
from tickets.statuses import By, Status
from tickets.working import AgentReply

CALLER = Actor(By.COMPANY, "tok")
Act = Callable[[Ticket, User], object]


@pytest.fixture
def eve(db: None) -> User:
    """Create a lead, who may do everything on a ticket."""
    return build.agent("eve", group="lead", available=False).user


@pytest.fixture
def ben(db: None) -> User:
    return build.agent("ben", group="lead", available=False).user


def answer(
    ticket: Ticket, user: User, token: PageToken, *, public: bool, to: Status | None
) -> None:
    reply = AgentReply(ticket_id=ticket.pk, user=user, text="Hm.", public=public, to=to, seen=token)
    working.answer(reply)


def decide(ticket: Ticket, user: User, token: PageToken) -> None:
    working.decide_appeal(ticket.pk, accept=False, user=user, reason="No.", seen=token)


def to_somebody(ticket: Ticket, user: User) -> object:
    return reassigning.reassign(ticket.pk, build.agent(f"to-{ticket.pk}"), user=user)


WRITES: dict[str, Callable[[Ticket, User, PageToken], object]] = {
    "reply": partial(answer, public=True, to=None),
    "note": partial(answer, public=False, to=None),
    "reply and move": partial(answer, public=True, to=Status.DECLINED),
    "note and move": partial(answer, public=False, to=Status.ACCEPTED),
    "move": lambda one, user, token: working.move(one.pk, Status.ACCEPTED, user=user, seen=token),
    "take": lambda one, user, token: taking.take_ticket(one.pk, user, seen=token),
    "reassign": lambda one, user, token: reassigning.reassign(one.pk, None, user=user, seen=token),
    "hand over": lambda one, user, token: hand_over(
        one.pk, Agent.objects.get(user__username="ben"), user=user, seen=token, confirmed=True
    ),
    "decide the appeal": decide,
}
COMPANY_ACTS: dict[str, Act] = {
    "wrote": lambda one, _: updating.comment(one.company, one.pk, CALLER, "Wait!"),
    # The file was uploaded before the page was shown, and attached after.
    "sent a file": lambda one, _: files.attach_files(
        one.company, one.pk, CALLER, [one.company.files.earliest("pk").pk], requested=None
    ),
    "changed data": lambda one, _: updating.update_ticket(
        one.company, one.pk, CALLER, to=Status(one.status), data='{"value": 9}'
    ),
    "moved it": lambda one, _: updating.update_ticket(
        one.company, one.pk, CALLER, to=Status.CLAIM_IN_REVIEW
    ),
    "appealed": lambda one, _: appeals.appeal_decision(one.company, one.pk, CALLER, "Again!"),
}
AGENT_ACTS: dict[str, Act] = {
    "replied": lambda one, user: working.write(one.pk, "We pay.", user=user, public=True),
    "noted": lambda one, user: working.write(one.pk, "Fraud?", user=user, public=False),
    "asked": lambda one, user: working.move(one.pk, Status.INCOMPLETE, user=user, reason="How?"),
    "reassigned it": to_somebody,
    "handed it over": lambda one, user: hand_over(
        one.pk, build.agent(f"next-{one.pk}"), user=user, confirmed=True
    ),
}
SYSTEM_ACTS: dict[str, Act] = {
    "assigned it": lambda one, _: build.agent(f"at-{one.pk}") and automatic.assign_waiting(),
}
EVERY_ACT = COMPANY_ACTS | AGENT_ACTS | SYSTEM_ACTS


def world(company: Company, act: str) -> Ticket:
    """Create a ticket that allows this act, and a file that waits to be attached."""
    build.file(company)
    status = Status.DECLINED if act == "appealed" else Status.IN_REVIEW
    ticket = build.ticket(company, type_id=4, status=status)
    working.write(ticket.pk, "Hello.", user=User.objects.get(username="ben"), public=True)
    return ticket


def rows() -> list[object]:
    return [
        list(model.objects.order_by("pk").values()) for model in (Ticket, Comment, HistoryEntry)
    ]


@pytest.mark.parametrize("act", EVERY_ACT)
def test_unread_acts_hold_back_every_write(
    company: Company, eve: User, ben: User, act: str
) -> None:
    ticket = world(company, act)
    token = page_token_of(ticket)
    EVERY_ACT[act](ticket, ben)
    before = rows()

    for write in WRITES.values():
        with pytest.raises(StaleTicket):
            write(ticket, eve, token)

    assert rows() == before
    assert unread_since(token, eve) != []
    # Having read it is enough.
    assert unread_since(page_token_of(ticket), eve) == []
    answer(ticket, eve, page_token_of(ticket), public=False, to=None)


@pytest.mark.parametrize("act", AGENT_ACTS)
def test_own_acts_in_another_tab_hold_nothing_back(
    company: Company, eve: User, ben: User, act: str
) -> None:
    for write in ("note", "reply", "move"):
        ticket = world(company, act)
        token = page_token_of(ticket)
        AGENT_ACTS[act](ticket, eve)

        WRITES[write](ticket, eve, token)

        assert unread_since(token, eve) == []
        assert unread_since(token, ben) != []


def test_a_company_s_token_may_be_called_what_the_agent_is_called(
    company: Company, eve: User, ben: User
) -> None:
    ticket = world(company, "wrote")
    token = page_token_of(ticket)
    updating.comment(company, ticket.pk, Actor(By.COMPANY, "eve"), "Wait!")

    with pytest.raises(StaleTicket):
        working.move(ticket.pk, Status.ACCEPTED, user=eve, seen=token)


def test_irrelevant_acts_hold_nothing_back(company: Company, eve: User, ben: User) -> None:
    ticket = world(company, "wrote")
    token = page_token_of(ticket)
    for kind in QUIET:
        record_history(ticket, Actor(By.AGENT, "ben"), kind)

    assert page_token_of(ticket) == token
    working.move(ticket.pk, Status.ACCEPTED, user=eve, seen=token)
    assert HistoryEntry.objects.filter(kind=Kind.MOVED).exists()


def test_commands_have_no_page_and_are_not_held_back(
    company: Company, eve: User, ben: User
) -> None:
    ticket = world(company, "wrote")
    updating.comment(company, ticket.pk, CALLER, "Wait!")

    working.move(ticket.pk, Status.ACCEPTED, user=eve)

    ticket.refresh_from_db()
    assert ticket.status == Status.ACCEPTED


def test_what_is_unread_comes_in_the_order_in_which_it_happened(
    company: Company, eve: User, ben: User
) -> None:
    ticket = world(company, "wrote")
    token = page_token_of(ticket)
    for act in ("wrote", "noted", "changed data", "asked"):
        EVERY_ACT[act](Ticket.objects.get(pk=ticket.pk), ben)

    unread = [
        one.text if isinstance(one, Comment) else one.kind for one in unread_since(token, eve)
    ]
    assert unread == ["moved", "Wait!", "Fraud?", "data_changed", "moved", "How?"]


@pytest.mark.parametrize(
    "text", ["", "1", "3:1", "1-2", "1-2-x", "-1-2-3", "1-2-3-4", "1-2-\u0663", "1-2-" + "9" * 40]
)
def test_a_text_that_is_no_token_is_refused(text: str) -> None:
    assert PageToken.read(text) is None
    with pytest.raises(StaleTicket, match="out of date"):
        require_page_token(PageToken.read(text))


def test_a_token_of_another_ticket_opens_nothing(company: Company, eve: User, ben: User) -> None:
    ticket, other = world(company, "wrote"), world(company, "wrote")
    assert PageToken.read(str(page_token_of(ticket))) == page_token_of(ticket)

    with pytest.raises(StaleTicket):
        working.move(ticket.pk, Status.ACCEPTED, user=eve, seen=page_token_of(other))


def test_a_form_that_assigns_automatically_does_it_once(company: Company, eve: User) -> None:
    ann, _, _ = (build.agent(name) for name in ("ann", "bob", "cora"))
    ticket = build.ticket(company, agent=ann)
    token = page_token_of(ticket)
    reassigning.reassign(ticket.pk, None, user=eve, seen=token)
    before = rows()

    with pytest.raises(StaleTicket):
        reassigning.reassign(ticket.pk, None, user=eve, seen=token)

    assert rows() == before


@pytest.mark.usefixtures("rows_to_keep")
def test_unread_acts_are_checked_after_waiting_for_the_lock(transactional_db: None) -> None:
    eve, ben = (build.agent(name, group="lead", available=False).user for name in ("eve", "ben"))
    company = build.company()
    for act in ("wrote", "sent a file", "noted"):
        ticket = world(company, act)
        token = page_token_of(ticket)

        _, refused = in_order(
            partial(EVERY_ACT[act], ticket, ben),
            partial(working.move, ticket.pk, Status.ACCEPTED, user=eve, seen=token),
        )

        assert isinstance(refused, StaleTicket), act
        assert Ticket.objects.get(pk=ticket.pk).status != Status.ACCEPTED
