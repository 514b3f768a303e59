"""Internal texts and files of agents stay out of everything that a company can read.

They are written with a reply and with each kind of move; `To the company` is public, `Among agents`
is not.
"""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import call_command
from django.utils import timezone
from rest_framework.test import APIClient

from companies.models import Company
from core.models import Mail
from deliveries.models import Event
from tests import builders as build
from tests.files import picture
from tickets import working
from tickets.assignment import handing_over
from tickets.changes import files
from tickets.changes.actors import Actor
from tickets.changes.files import NewFile
from tickets.changes.history import record_history
from tickets.changes.news import ticket_service
from tickets.changes.ticket_updated import TICKET_UPDATED
from tickets.history_codes import Kind
from tickets.models import Agent, Comment, Ticket, TicketFile
from tickets.statuses import By, Status
from tickets.working import AgentReply

PUBLIC, INTERNAL = "publicword", "internalword"
PNG = picture()


@pytest.fixture
def company(company: Company) -> Company:
    Company.objects.filter(pk=company.pk).update(
        contact_email="dev@acme.example", ticket_emails=True
    )
    company.refresh_from_db()
    build.webhook(company, TICKET_UPDATED.id)
    return company


@pytest.fixture
def lead(db: None) -> Agent:
    return build.agent("eve", group="lead", available=False)


def reply(ticket: Ticket, agent: Agent, *, public: bool, to: Status | None = None) -> None:
    """Write a text and attach a file, both named for their audience."""
    word = PUBLIC if public else INTERNAL
    with files.store_content(PNG) as name:
        new = NewFile(
            name=f"{word}.png",
            description=word,
            media_type="image/png",
            size=len(PNG),
            sha256="5e" * 32,
            active=False,
            stored_as=name,
        )
        agent_reply = AgentReply(
            ticket_id=ticket.pk, user=agent.user, text=word, public=public, to=to, files=[new]
        )
        working.answer(agent_reply)


def read_list(api: APIClient, ticket: Ticket, tmp_path: Path) -> str:
    return api.get("/company/tickets", {"getComments": 1}).content.decode()


def read_short_list(api: APIClient, ticket: Ticket, tmp_path: Path) -> str:
    return api.get("/company/tickets").content.decode()


def read_ticket(api: APIClient, ticket: Ticket, tmp_path: Path) -> str:
    answer = api.get(f"/company/tickets/{ticket.pk}", {"getComments": 1})
    return answer.content.decode()


def read_comments(api: APIClient, ticket: Ticket, tmp_path: Path) -> str:
    return api.get(f"/company/tickets/comments/{ticket.pk}").content.decode()


def read_files(api: APIClient, ticket: Ticket, tmp_path: Path) -> str:
    return api.get(f"/company/evidences/{ticket.pk}").content.decode()


def read_events(api: APIClient, ticket: Ticket, tmp_path: Path) -> str:
    return " ".join(bytes(event.body).decode() for event in Event.objects.all())


def read_letters(api: APIClient, ticket: Ticket, tmp_path: Path) -> str:
    return " ".join(f"{mail.subject} {mail.secret_text}" for mail in Mail.objects.all())


def read_export(api: APIClient, ticket: Ticket, tmp_path: Path) -> str:
    target = tmp_path / "export.zip"
    call_command("export_company", str(ticket.company_id), "--to", str(target), verbosity=0)
    with zipfile.ZipFile(target) as archive:
        texts = [archive.read(name) for name in archive.namelist() if name.endswith("l")]
        assert b"\x89PNG" not in b"".join(texts)
        return b" ".join([*texts, *(name.encode() for name in archive.namelist())]).decode()


OUTLETS: list[Callable[[APIClient, Ticket, Path], str]] = [
    read_list,
    read_short_list,
    read_ticket,
    read_comments,
    read_files,
    read_events,
    read_letters,
    read_export,
]
# Outlets that show no text of agents, or none of the kinds written here.
WITHOUT_TEXT = {read_letters}


@pytest.mark.parametrize("outlet", OUTLETS, ids=lambda outlet: outlet.__name__)
def test_company_reads_what_is_public_and_nothing_else(
    api: APIClient,
    company: Company,
    agent: Agent,
    lead: Agent,
    tmp_path: Path,
    outlet: Callable[[APIClient, Ticket, Path], str],
) -> None:
    ticket = build.ticket(company, agent=agent, status=Status.IN_REVIEW)
    reply(ticket, agent, public=False)
    reply(ticket, agent, public=True)
    handing_over.hand_over(ticket.pk, build.agent("bob"), user=lead.user, note=INTERNAL)
    reply(ticket, lead, public=False, to=Status.ACCEPTED)

    text = outlet(api, ticket, tmp_path)

    assert INTERNAL not in text
    assert "eve" not in text.split()
    assert (PUBLIC in text) == (outlet not in WITHOUT_TEXT)


@pytest.mark.parametrize("to", [Status.ACCEPTED, Status.DECLINED, Status.INCOMPLETE])
def test_public_text_of_a_move_is_read_and_an_internal_one_is_not(
    api: APIClient, company: Company, agent: Agent, tmp_path: Path, to: Status
) -> None:
    visible, hidden = (
        build.ticket(company, agent=agent, status=Status.IN_REVIEW) for _ in range(2)
    )
    reply(visible, agent, public=True, to=to)
    for ticket in (visible, hidden):
        ticket.refresh_from_db()
    try:
        reply(hidden, agent, public=False, to=to)
    except working.MoveRefused:
        # The company has to learn the reason, so a note does not count as one.
        assert to != Status.ACCEPTED
    else:
        assert to == Status.ACCEPTED

    for outlet in OUTLETS:
        text = outlet(api, visible, tmp_path)
        assert INTERNAL not in text, outlet.__name__
        (tmp_path / "export.zip").unlink(missing_ok=True)
    assert PUBLIC in read_comments(api, visible, tmp_path)
    assert (PUBLIC in read_letters(api, visible, tmp_path)) == (to != Status.ACCEPTED)


def test_search_finds_a_ticket_by_public_words_alone(
    api: APIClient, company: Company, agent: Agent
) -> None:
    ticket = build.ticket(company, agent=agent, status=Status.IN_REVIEW)
    reply(ticket, agent, public=True)
    reply(ticket, agent, public=False)

    def find(word: str) -> list[int]:
        return [row["id"] for row in api.get("/company/tickets", {"q": word}).json()["data"]]

    assert find(PUBLIC) == [ticket.pk]
    assert find(INTERNAL) == []


def test_internal_file_is_not_handed_out_by_its_id(
    api: APIClient, company: Company, agent: Agent
) -> None:
    """Attach a file a second time: the answer has its signed address."""
    ticket = build.ticket(company, agent=agent, status=Status.IN_REVIEW)
    reply(ticket, agent, public=True)
    reply(ticket, agent, public=False)
    public, internal = TicketFile.objects.order_by("pk")
    unattached = build.file(company, public=False, by=By.AGENT)

    def attach(file: TicketFile) -> int:
        address = f"/company/attach/evidences/{ticket.pk}"
        return api.put(address, {"files": [file.pk]}).status_code

    assert (public.public, internal.public) == (True, False)
    assert attach(public) == 200
    assert attach(internal) == 400
    assert attach(unattached) == 400


def test_sample_of_an_event_shows_no_internal_move(company: Company, agent: Agent) -> None:
    ticket = build.ticket(
        company, agent=agent, status=Status.IN_REVIEW, shipment_id=build.shipment(company).pk
    )
    reply(ticket, agent, public=False)
    Comment.objects.filter(ticket=ticket).update(created_at=timezone.now())

    body = json.dumps(TICKET_UPDATED.sample(company.pk, "TEST0004101", timezone.now()), default=str)

    assert INTERNAL not in body


def test_company_reads_of_history_when_a_ticket_was_opened_and_moved_and_no_more(
    api: APIClient, company: Company, tmp_path: Path
) -> None:
    ticket = build.ticket(company, status=Status.IN_REVIEW, shipment_id=build.shipment(company).pk)
    write, eve = ticket_service(record_history), Actor(By.LEAD, "eve")
    write(ticket, eve, Kind.OPENED)
    write(ticket, eve, Kind.MOVED, previous=Status.PENDING)

    # Write it last, where a sample of the newest entry would find it.
    for kind in [*Kind][2:]:
        write(ticket, eve, kind, previous=Status.INCOMPLETE, reason=INTERNAL)

    (row,) = json.loads(read_ticket(api, ticket, tmp_path))["data"]
    assert [entry["from"] for entry in row["history"]] == [None, Status.PENDING]
    read_export(api, ticket, tmp_path)
    with zipfile.ZipFile(tmp_path / "export.zip") as archive:
        exported = archive.read("history.jsonl").splitlines()
    assert [json.loads(line)["was"] for line in exported] == [None, Status.PENDING]
    sample = TICKET_UPDATED.sample(company.pk, "TEST0004101", timezone.now())
    assert sample["data"]["previous_status_id"] == Status.PENDING
