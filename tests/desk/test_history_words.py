"""History in words: the entries that each act writes, and the sentences that the desk shows."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, transaction
from django.test import Client
from rest_framework.test import APIClient

from companies.models import Company
from desk.claim_file import making
from desk.ticket import history_words
from tests import builders as build
from tests.desk.forms import token
from tests.desk.words import words
from tickets import updating, working
from tickets.assignment import automatic, taking
from tickets.assignment.reassigning import reassign
from tickets.changes import news
from tickets.changes.actors import Actor
from tickets.changes.history import record_history
from tickets.history_codes import Kind, NotAssigned, NotMoved, Rule
from tickets.models import Agent, HistoryEntry, Ticket
from tickets.statuses import By, Status
from tickets.working import AgentReply

THEM = Actor(By.COMPANY, "tok_1")
DIFF = {"added": {"box": 1}, "removed": {"bag": 2}, "changed": {"cups": [6, None]}}


@pytest.fixture
def eve(db: None) -> User:
    """Create a lead who is assigned no tickets."""
    return build.agent("eve", group="lead", available=False).user


@pytest.fixture
def ticket(company: Company) -> Ticket:
    return build.ticket(company, status=Status.IN_REVIEW, data='{"a": 1}')


def entry(kind: str, by: str = "system", *, before: int | None = 6, **data: Any) -> HistoryEntry:
    """Return an unsaved entry, by ada if an agent or a lead acts."""
    data = {"now": 6, "public": False, "actor": "ada" if by in ("agent", "lead") else "", **data}
    return HistoryEntry(kind=kind, by=by, was=before, **data)


def last(kind: Kind) -> HistoryEntry:
    """Return the only stored entry of this kind."""
    return HistoryEntry.objects.get(kind=kind)


def sentence_of(kind: Kind) -> str:
    return history_words.sentence(last(kind))


def handed_over(former: str | None, agent: str, load: int = 0) -> dict[str, Any]:
    rule = {"rule": Rule.COLLEAGUE_CHOICE.value}
    return {"agent": [former, agent], "loads": {agent: [load, 5]}, **rule}


def assigned(former: str | None, agent: str | None, load: int = 0) -> dict[str, Any]:
    loads = {"loads": {agent: [load, 5]}} if agent else {}
    return {"agent": [former, agent], "rule": Rule.LEAD_CHOICE, **loads}


# One case for each sentence of each kind.
CASES: list[tuple[HistoryEntry, str]] = [
    (entry("opened", "company", before=None, public=True), "The company opened the ticket."),
    (
        entry("moved", "agent", before=1, public=True, reason="Why."),
        "ada moved it from Pending to In review.",
    ),
    (
        entry("moved", "company", before=4, now=5, public=True, actor="tok_1"),
        "The company moved it from Incomplete to Follow up.",
    ),
    (
        entry("moved", "agent", before=1, actor=""),
        "An agent moved it from Pending to In review.",
    ),
    (
        entry("move_refused", "company", now=1, data={"to": 5, "why": "not_allowed"}),
        "The company asked for Follow up, which cannot follow Pending.",
    ),
    (
        entry("move_refused", "company", data={"to": 5, "why": "nothing_new"}),
        "Not moved to Follow up: the message said nothing new.",
    ),
    (
        entry("move_refused", "company", data={"to": 10, "why": "of a later version"}),
        "The company asked for Claim in review. The status stayed In review.",
    ),
    (
        entry("data_changed", "company", data={"variables": DIFF}),
        "The company changed the variables. The status stayed In review.",
    ),
    (
        entry("handed_over", "agent", data=handed_over(None, "ben")),
        "ada handed it over to ben.",
    ),
    (
        entry("handed_over", "agent", data=handed_over("ada", "ben")),
        "ada handed it over from ada to ben.",
    ),
    (
        entry("handed_over", "lead", data=handed_over(None, "ben", 5)),
        "ada handed it over to ben, over capacity (5 of 5).",
    ),
    (
        entry("handed_over", "lead", data=handed_over("zoe", "ben", 5)),
        "ada handed it over from zoe to ben, over capacity (5 of 5).",
    ),
    (entry("related", "agent", data={"ticket": 7}), "ada linked it to ticket 7."),
    (entry("unrelated", "agent", data={"ticket": 7}), "ada removed the link to ticket 7."),
    (
        entry("taken", "agent", data={"agent": [None, "ada"], "rule": "replied"}),
        "ada replied and so took the ticket.",
    ),
    (
        entry("taken", "agent", data={"agent": [None, "ada"], "rule": "caller"}),
        "ada took the ticket that they opened.",
    ),
    (
        entry("assigned", data={"agent": [None, "ben"], "rule": "least_busy"}),
        "Assigned automatically to ben (least busy).",
    ),
    (
        entry("unassigned", data={"why": "nobody_available"}),
        "Left unassigned: no agent for this ticket type is available.",
    ),
    (
        entry("unassigned", data={"why": "all_at_capacity"}),
        "Left unassigned: every available agent for this ticket type is at capacity.",
    ),
    (
        entry("unassigned", data={"why": "lock_timeout"}),
        "Left unassigned for now: other tickets were being assigned at that moment.",
    ),
    (entry("unassigned", data={"why": "of a later version"}), "Left unassigned."),
    (
        entry("taken", "agent", data={"agent": [None, "ada"], "rule": "most_urgent"}),
        "ada took the ticket, the most urgent unassigned one.",
    ),
    (
        entry("taken", "agent", data={"agent": [None, "ada"], "rule": "agent_choice"}),
        "ada chose the ticket and took it.",
    ),
    (entry("taken", "agent", data={"agent": [None, "ada"]}), "ada took the ticket."),
    (
        entry("reassigned", "lead", data=assigned("ben", "cat", 4), reason="Away."),
        "ada reassigned it from ben to cat.",
    ),
    (entry("reassigned", "lead", data=assigned(None, "cat")), "ada assigned it to cat."),
    (
        entry("reassigned", "lead", data=assigned("ben", "cat", 7)),
        "ada reassigned it from ben to cat, over capacity (7 of 5).",
    ),
    (
        entry("reassigned", "lead", data=assigned(None, "cat", 5)),
        "ada assigned it to cat, over capacity (5 of 5).",
    ),
    (
        entry("reassigned", "lead", data=assigned("ben", None)),
        "Reassigned automatically by ada (was assigned to ben).",
    ),
    (
        entry("reassigned", "lead", data=assigned(None, None)),
        "Assigned automatically by ada.",
    ),
    (
        entry("documents_requested", "agent", data={"requested": ["Invoice", "Photo"]}),
        "ada requested documents: Invoice, Photo.",
    ),
    (
        entry("evidence_taken", "agent", data={"sha256": "5e5e"}),
        "ada downloaded the evidence.",
    ),
    (
        entry("opened", "lead", before=None, ticket=Ticket(company=Company(name="Acme"))),
        "ada opened the ticket for Acme.",
    ),
    (
        entry("reassigned", data=assigned("ben", None)),
        "Taken back from ben, who is no longer active.",
    ),
    (
        entry("snoozed", "agent", data={"until": "2026-10-12T00:00:00+00:00"}),
        "ada snoozed it. Snoozed until Monday 12 October.",
    ),
    (entry("woken"), "The system brought it back."),
    (entry("appealed", "company"), "The company appealed the decision."),
    (
        entry("appeal_decided", "lead", data={"outcome": "accepted"}),
        "ada accepted the appeal.",
    ),
    (entry("appeal_decided", "lead", data={"outcome": "refused"}), "ada refused the appeal."),
    (
        entry("appeal_decided", "lead", data={"outcome": "accepted", "own": True}),
        "ada, the only lead, accepted the appeal of their own decision.",
    ),
    (
        entry("appeal_decided", "lead", data={"outcome": "refused", "own": True}),
        "ada, the only lead, refused the appeal of their own decision.",
    ),
    (
        entry("appeal_decided", "lead", data={"outcome": "of a later version", "own": True}),
        "ada decided the appeal.",
    ),
    (
        entry("file_added", "company", data={"name": "box.png", "document": None}),
        "The company added a file: box.png.",
    ),
    (
        entry(
            "amounts_changed",
            "agent",
            data={"amounts": {"claimed": [None, "10.5"]}},
            ticket=Ticket(currency="EUR"),
        ),
        "ada changed the amounts: claimed none → 10.50.",
    ),
    (
        entry("claim_file_taken", "agent", data={"sha256": "5e5e"}),
        "ada downloaded the claim file.",
    ),
]


@pytest.mark.parametrize(("stored", "says"), CASES)
def test_says_each_kind_in_a_sentence(stored: HistoryEntry, says: str) -> None:
    assert history_words.sentence(stored) == says


def test_kind_of_a_later_version_is_its_code() -> None:
    assert history_words.sentence(entry("merged_with_other", "agent")) == "Merged with other"


@pytest.mark.parametrize("kind", Kind)
def test_each_sentence_of_a_kind_has_a_case(kind: Kind) -> None:
    cases = [*CASES, *map(by_automation, AUTOMATIC)]
    cases_of_kind = [(history_words.places(one), says) for one, says in cases if one.kind == kind]
    reached = [
        needed
        for needed, template in kind.row.sentences.items()
        if any(str(template).format_map(places) == says for places, says in cases_of_kind)
    ]

    assert reached
    assert reached == list(kind.row.sentences)


def test_every_reason_for_not_acting_has_a_sentence() -> None:
    needed = {*Kind.UNASSIGNED.row.sentences, *Kind.MOVE_REFUSED.row.sentences}

    assert needed >= {*NotAssigned, *NotMoved}


def test_unknown_fact_is_refused(ticket: Ticket) -> None:
    with pytest.raises(ValueError, match=r"moved .* has no \{'colour'\}"), transaction.atomic():
        news.ticket_service(record_history)(
            ticket, THEM, Kind.MOVED, data={"code": "x", "colour": 1}
        )

    assert not HistoryEntry.objects.exists()


def test_braces_in_names_are_no_placeholders() -> None:
    moved_entry = entry("moved", "agent", before=1, actor="{now} {x}")

    assert history_words.sentence(moved_entry) == "{now} {x} moved it from Pending to In review."


def test_says_what_changed_of_the_variables() -> None:
    changed = entry("moved", "company", public=True, data={"variables": DIFF})

    assert history_words.details(changed) == [
        "Added box: 1",
        "Removed bag",
        "Changed cups: 6 → null",
    ]


def test_a_company_opens_moves_and_changes(
    api: APIClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = api.post("/company/tickets", {"type_id": 2}).json()["id"]
    updating.update_ticket(company, number, THEM, to=Status.FOLLOW_UP, text="It is broken.")
    updating.update_ticket(company, number, THEM, to=Status.CLAIM_IN_REVIEW)
    updating.update_ticket(company, number, THEM, to=Status.CLAIM_IN_REVIEW, data='{"a": 1}')

    assert sentence_of(Kind.OPENED) == "The company opened the ticket."
    refused = "The company asked for Follow up, which cannot follow Pending."
    assert sentence_of(Kind.MOVE_REFUSED) == refused
    assert sentence_of(Kind.MOVED) == "The company moved it from Pending to Claim in review."
    changed = "The company changed the variables. The status stayed Claim in review."
    assert sentence_of(Kind.DATA_CHANGED) == changed
    assert history_words.details(last(Kind.DATA_CHANGED)) == ["Added a: 1", "API token tok_1"]
    assert set(HistoryEntry.objects.values_list("reason", flat=True)) == {""}


@pytest.mark.parametrize("act", ["comment", "update"])
def test_courtesy_leaves_the_status(company: Company, ticket: Ticket, act: str) -> None:
    if act == "comment":
        updating.comment(company, ticket.pk, THEM, "Thank you!")
    else:
        updating.update_ticket(company, ticket.pk, THEM, to=Status.FOLLOW_UP, text="Thank you!")

    assert sentence_of(Kind.MOVE_REFUSED) == "Not moved to Follow up: the message said nothing new."


def test_an_agent_moves_and_says_why(agent: Agent, ticket: Ticket) -> None:
    working.move(ticket.pk, Status.DECLINED, user=agent.user, reason="No proof came.")

    line = history_words.line(last(Kind.MOVED))
    assert line.sentence == "ada moved it from In review to Declined."
    assert line.reason == "No proof came."


def test_an_agent_asks_for_documents(agent: Agent, ticket: Ticket) -> None:
    reply = AgentReply(
        ticket_id=ticket.pk, user=agent.user, text="Hello.", public=True, requested=["Photo"]
    )
    working.answer(reply)

    assert sentence_of(Kind.DOCUMENTS_REQUESTED) == "ada requested documents: Photo."


def test_assignment_names_the_agent_or_why_nobody(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_late(type_id: int) -> list[int]:
        raise OperationalError("canceling statement due to lock timeout")

    automatic.assign(build.ticket(company))
    build.agent("ada", capacity=1)
    automatic.assign(build.ticket(company))
    automatic.assign(build.ticket(company))
    with monkeypatch.context() as broken:
        broken.setattr(automatic, "lock_agents", too_late)
        automatic.assign(build.ticket(company))

    assert [history_words.sentence(one) for one in HistoryEntry.objects.order_by("pk")] == [
        "Left unassigned: no agent for this ticket type is available.",
        "Assigned automatically to ada (least busy).",
        "Left unassigned: every available agent for this ticket type is at capacity.",
        "Left unassigned for now: other tickets were being assigned at that moment.",
    ]


def test_agents_take_tickets(company: Company, agent: Agent) -> None:
    for _ in range(2):
        build.ticket(company)
    taking.take_next(agent.user)
    taking.take_ticket(Ticket.objects.get(agent=None).pk, agent.user)

    assert [history_words.sentence(one) for one in HistoryEntry.objects.order_by("pk")] == [
        "ada took the ticket, the most urgent unassigned one.",
        "ada chose the ticket and took it.",
    ]


def test_a_lead_reassigns(company: Company, agent: Agent, eve: User) -> None:
    ticket = build.ticket(company)
    bob = build.agent("bob", capacity=0, available=False)
    for to in (agent, bob, None):
        reassign(ticket.pk, to, user=eve, reason=" Away: all week. ")

    lines = [history_words.line(one) for one in HistoryEntry.objects.order_by("pk")]
    assert [line.sentence for line in lines] == [
        "eve assigned it to ada.",
        "eve reassigned it from ada to bob, over capacity (0 of 0).",
        "Reassigned automatically by eve (was assigned to bob).",
        "Assigned automatically to ada (least busy).",
    ]
    assert [line.reason for line in lines] == ["Away: all week."] * 3 + [""]
    assert [[one.why for one in line.loads] for line in lines] == [
        ["chosen by a lead"],
        ["chosen by a lead"],
        [],
        ["least busy"],
    ]


def test_evidence_is_downloaded(eve: User, ticket: Ticket) -> None:
    making.evidence(ticket, user=eve).close()

    digest = last(Kind.EVIDENCE_TAKEN).data["sha256"]
    assert sentence_of(Kind.EVIDENCE_TAKEN) == "eve downloaded the evidence."
    # Operators need the digest; to agents it means nothing.
    entry = last(Kind.EVIDENCE_TAKEN)
    assert history_words.line(entry).details == [f"SHA-256 {digest}"]
    assert history_words.line(entry, traces=False).details == []


def test_page_shows_history_with_reasons(
    desk: Client, agent: Agent, eve: User, ticket: Ticket
) -> None:
    reassign(ticket.pk, agent, user=eve, reason="Knows the carrier.")
    updating.update_ticket(ticket.company, ticket.pk, THEM, to=Status.CLAIM_IN_REVIEW, data="{}")

    html = desk.get(f"/admin/tickets/ticket/{ticket.pk}/change/").content.decode()

    listed = words(html.split('class="desk-history"')[1].split("</details>\n</aside")[0])
    assert "eve assigned it to ada. Reason: Knows the carrier." in listed
    assert "Removed a" in listed
    thread = words(html.split('id="thread"')[1].split('class="desk-composer"')[0])
    assert "eve assigned it to ada. Reason: Knows the carrier." in thread


def test_stale_page_shows_the_latest_entry_of_any_kind(
    desk: Client, agent: Agent, eve: User, ticket: Ticket
) -> None:
    body = {"text": "Hi.", "reply": 1, "seen": token(ticket)}
    reassign(ticket.pk, agent, user=eve, reason="Knows the carrier.")

    answer = desk.post(f"/admin/tickets/ticket/{ticket.pk}/write/", body)

    assert answer.status_code == 409
    text = words(answer.content.decode())
    assert "Not sent. There is something new on this ticket. eve assigned it to ada." in text
    assert "Reason: Knows the carrier." in text


AUTOMATIC = {
    "moved": ("close", {}, "“Closing silent tickets” moved it from Pending to In review."),
    "reminded": ("remind", {"number": 1, "of": 2}, "“Reminders” reminded the company (1 of 2)."),
    "reminded last": (
        "close",
        {"last": True},
        "“Closing silent tickets” reminded the company for the last time.",
    ),
    "escalated": ("escalate", {}, "“Escalation” told the leads that the ticket is due soon."),
    "reassigned": (
        "escalate",
        {"agent": ["ada", "ben"]},
        "“Escalation” reassigned it from ada to ben.",
    ),
    "reassigned from nobody": (
        "escalate",
        {"agent": [None, "ben"]},
        "“Escalation” assigned it to ben.",
    ),
}


def by_automation(case: str) -> tuple[HistoryEntry, str]:
    name, facts, says = AUTOMATIC[case]
    extra = {"before": Status.PENDING} if case == "moved" else {}
    stored = entry(case.split()[0], actor=f"automation:{name}", data=facts, **extra)
    return stored, f"The automation {says}"


@pytest.mark.parametrize("case", AUTOMATIC)
def test_automations_are_named(case: str) -> None:
    stored, says = by_automation(case)

    assert history_words.sentence(stored) == says
    assert history_words.line(stored).who == says.split("“")[1].split("”")[0]
