"""An agent opens a ticket for a company that calls, by the same rules as the company itself."""

import json
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from rest_framework.test import APIClient

from companies.models import Company
from deliveries.models import Event
from tests import builders as build
from tests import files
from tests.desk.words import words
from tests.tickets.test_detail import ticket_data
from tickets import opening
from tickets.changes.actors import NotAllowed
from tickets.changes.ticket_updated import TICKET_UPDATED
from tickets.models import Agent, HistoryEntry, Ticket, TicketFile, TicketType, UnfinishedFile
from tickets.statuses import Status

LIST = "/admin/tickets/ticket/"
NEW = f"{LIST}new/"
LOST = 4
# With an idle agent around, automatic assignment never picks the acting one by chance.
pytestmark = pytest.mark.usefixtures("idle")


@pytest.fixture
def idle(agent: Agent) -> Agent:
    build.ticket(build.company("Busy"), agent=agent)
    return build.agent("zoe")


def send(desk: Client, **fields: Any) -> HttpResponse:
    body = {"company": "acme", "type": LOST, "key": uuid4(), "mine": "on", **fields}
    return desk.post(NEW, {name: value for name, value in body.items() if value is not None})


def opened() -> Ticket:
    return Ticket.objects.exclude(company__name="Busy").get()


def count() -> int:
    return Ticket.objects.exclude(company__name="Busy").count()


def test_opens_a_ticket_that_the_company_sees_and_hears_of_as_of_any_other(
    desk: Client, company: Company, api: APIClient
) -> None:
    build.webhook(company, TICKET_UPDATED.id)
    parcel = build.shipment(company, tracking_number="TRACK-7", carrier_name="redpack")
    build.incidence(parcel, kind="lost")

    answer = send(
        desk,
        shipment="track-7",
        text="It never came.",
        variables="order: 20209\n\nbox : a: b",
    )

    ticket = opened()
    assert answer["Location"] == f"{LIST}{ticket.pk}/change/"
    assert (ticket.company, ticket.type_id, ticket.shipment_id) == (company, LOST, parcel.pk)
    assert (ticket.comments, ticket.carrier_name) == ("It never came.", "redpack")
    assert json.loads(ticket.data) == {"order": "20209", "box": "a: b"}
    assert str(ticket.agent) == "ada"
    assert ticket.incidence_links.count() == 1
    row = api.get(f"/company/tickets/{ticket.pk}").json()["data"][0]
    assert row["comments"] == "It never came."
    assert "ada" not in json.dumps(row)
    data = json.loads(bytes(Event.objects.get().body))["data"]
    assert (data["change"], data["by"], data["ticket_id"]) == ("opened", "agent", ticket.pk)

    text = words(desk.get(answer["Location"]).content.decode())
    assert "Acme opened by ada" in text
    assert "ada opened the ticket for Acme." in text
    assert "ada took the ticket that they opened." in text


def test_history_names_the_agent(desk: Client, company: Company) -> None:
    send(desk, type=2)

    kinds = HistoryEntry.objects.order_by("pk").values_list("kind", "by", "actor")
    assert list(kinds) == [("opened", "agent", "ada"), ("taken", "agent", "ada")]


def test_leaves_the_choice_of_an_agent_to_the_rule(desk: Client, company: Company) -> None:
    send(desk, type=2, mine=None)

    assert str(opened().agent) == "zoe"


def test_form_sent_twice_opens_one_ticket(desk: Client, company: Company) -> None:
    key = uuid4()

    first, second = (send(desk, type=2, text="Hello.", key=key) for _ in range(2))

    assert first["Location"] == second["Location"]
    assert count() == 1
    # Going back and changing the text makes another ticket.
    assert send(desk, type=2, text="And this.", key=key).status_code == 302
    assert count() == 2


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"company": ""}, "This field is required."),
        ({"company": "Nobody"}, "There is no company named Nobody."),
        ({"company": "Acm"}, "Is it Acme? If so, send the form again."),
        ({"company": "Twi"}, "Which company? Enter its full name or ID: Twin ("),
        ({"company": "Twin"}, "Which company? Enter its full name or ID: Twin ("),
        ({"company": "Gone"}, "Gone is not active. No tickets can be opened for it."),
        ({"type": ""}, "This field is required."),
        ({"type": "3000"}, "Select a valid choice."),
        ({"type": "9"}, "Select a valid choice."),
        ({"shipment": ""}, "This field is required."),
        ({"shipment": "TRACK-8"}, "Acme has no shipment with the tracking number TRACK-8."),
        ({"shipment": "9" * 19 + "9"}, "Acme has no shipment with the tracking number"),
        ({"type": "7", "credit_id": ""}, "This field is required."),
        ({"type": "7", "credit_id": "x"}, "Enter a number."),
        ({"type": "7", "credit_id": "0"}, "Ensure this value is greater than or equal to 1."),
        ({"type": "7", "credit_id": "9" * 19}, "Ensure this value is less than or equal to"),
        ({"type": "19", "documents": "Invoice"}, "Line 1 is not written as name: value."),
        ({"type": "19", "documents": "\n" + "x" * 51 + ": 1"}, "no more than 50 characters"),
        ({"variables": "a: 1\nb"}, "Line 2 is not written as name: value."),
        ({"variables": "a: 1\na: 2"}, '"a" is given twice.'),
        ({"text": "x" * 20_001}, "Ensure this value has at most 20000 characters"),
        ({"text": "null\x00"}, "Null characters are not allowed."),
    ],
)
def test_refused_form_keeps_its_text_and_stores_nothing(
    desk: Client, company: Company, birch: Company, fields: dict[str, str], says: str
) -> None:
    build.company("Twin")
    build.company("Twin")
    build.company("Gone", active=False)
    TicketType.objects.filter(pk=9).update(active=False)
    build.shipment(birch, tracking_number="TRACK-8")
    key = uuid4()

    answer = send(desk, **{"shipment": "77", "text": "Kept <words>.", "key": key, **fields})

    html = answer.content.decode()
    assert answer.status_code == 400
    assert says in words(html)
    assert str(key) in html
    if "text" not in fields and fields.get("type", LOST) not in ("", "3000", "9"):
        assert "Kept &lt;words&gt;." in html
    assert count() == 0
    assert not HistoryEntry.objects.exists()


def test_a_duplicate_is_refused_with_the_way_to_the_ticket_that_is_there(
    desk: Client, company: Company
) -> None:
    there = build.ticket(company, type_id=LOST, shipment_id=77, status=Status.DECLINED)

    answer = send(desk, shipment="77", text="Again.")

    html = answer.content.decode()
    assert answer.status_code == 409
    assert "A ticket has already been created for this shipment." in html
    assert f'href="{LIST}{there.pk}/change/"' in html
    assert "Again." in html
    assert count() == 1


def test_shows_the_fields_of_a_type_and_keeps_what_was_typed(
    desk: Client, company: Company
) -> None:
    TicketType.objects.filter(pk=5).update(
        inputs=[
            {"name": "content", "el": "input", "required": True, "label": "What is in it?"},
            {"name": "box", "el": "select", "required": False, "options": ["small", "large"]},
        ],
        files=[{"name": "Photo of the damage", "description": "From outside."}],
    )

    html = send(desk, type=5, choose="1", text="Broken.").content.decode()

    for part in ("What is in it?", "Photo of the damage", "Broken.", 'value="acme"'):
        assert part in html
    assert count() == 0

    send(desk, type=5, shipment="77", **{"input-0": "a lamp", "input-1": "large"})
    assert json.loads(opened().data) == {"content": "a lamp", "box": "large"}


def test_an_input_takes_the_long_text_of_a_caller(desk: Client, company: Company) -> None:
    content = {"name": "content", "el": "input", "required": False}
    TicketType.objects.filter(pk=5).update(inputs=[content])
    lamp = "a lamp" + " of glass" * 600

    send(desk, type=5, shipment="77", **{"input-0": lamp})

    assert json.loads(opened().data) == {"content": lamp}


def test_takes_documents_by_what_their_values_are(desk: Client, company: Company) -> None:
    papers = "Deed: https://files.example.com/deed\nSigned: 2026-03-01\nNotary: No. 5: Mr. X"

    send(desk, type=19, documents=papers)

    rows = opened().documents.values_list("field_id", "type", "value")
    assert list(rows) == [
        ("Deed", "file", "https://files.example.com/deed"),
        ("Signed", "date", "2026-03-01"),
        ("Notary", "input", "No. 5: Mr. X"),
    ]


def test_a_company_is_found_by_its_id_and_a_shipment_that_is_not_known_is_a_number(
    desk: Client, company: Company
) -> None:
    send(desk, company=str(company.pk), shipment="123456")

    assert (opened().company, opened().shipment_id) == (company, 123456)


def test_a_link_fills_in_what_it_names(desk: Client, company: Company) -> None:
    html = desk.get(NEW, {"company": "Acme", "type": LOST, "shipment": "T-1"}).content.decode()

    assert 'value="Acme"' in html
    assert 'value="T-1"' in html


def test_an_agent_without_the_permission_gets_a_page_that_says_so(
    desk: Client, company: Company, agent: Agent
) -> None:
    agent.user.groups.get().permissions.remove(*build.permissions("add_ticket"))

    assert desk.get(NEW).status_code == 403
    assert send(desk, type=2).status_code == 403
    assert NEW not in desk.get(LIST).content.decode()
    with pytest.raises(NotAllowed):
        opening.open_for_caller(company, user=agent.user, key=uuid4(), mine=True, type_id=2)
    assert count() == 0


def test_stands_in_the_side_bar(desk: Client) -> None:
    assert f'href="{NEW}"' in desk.get(LIST).content.decode()


def test_attached_file_is_visible_to_the_company_and_stored_once(
    desk: Client, company: Company, api: APIClient
) -> None:
    key = uuid4()
    for _ in range(2):
        letter = SimpleUploadedFile("letter.png", files.photo())
        assert send(desk, type=2, text="Hello.", key=key, files=[letter]).status_code == 302

    file = TicketFile.objects.get(ticket=opened())
    assert (file.by, file.actor, file.public) == ("agent", "ada", True)
    (row,) = ticket_data(api, opened().pk)["files"]
    assert api.get(row["url"].removeprefix("http://testserver")).status_code == 200
    assert not UnfinishedFile.objects.exists()


def test_a_file_that_is_refused_opens_no_ticket_and_keeps_what_was_typed(
    desk: Client, company: Company
) -> None:
    page = send(desk, type=2, text="Hello.", files=[SimpleUploadedFile("a.exe", b"MZ of no use")])

    text = words(page.content.decode())
    assert page.status_code == 400
    assert "a.exe: " in text
    assert "Hello." in text
    assert "Choose the files again." in text
    assert count() == 0
    assert not UnfinishedFile.objects.exists()


@pytest.mark.parametrize("typed", ["altura", "CHIAPA", "cafe altura", " Café "])
def test_a_part_of_one_name_is_filled_in_and_never_sent_unseen(desk: Client, typed: str) -> None:
    cafe = build.company("Café Altura Chiapaneca")
    build.company("Altura Vieja", active=False)

    # Once the type's fields are shown, the box has the whole name.
    html = send(desk, company=typed, choose="1").content.decode()
    assert 'value="Café Altura Chiapaneca"' in html
    # When sent at once, the page asks about the name first, and fills it in.
    answer = send(desk, company=typed, shipment="77", text="Lost.")
    assert (answer.status_code, count()) == (400, 0)
    assert 'value="Café Altura Chiapaneca"' in answer.content.decode()

    send(desk, company="Café Altura Chiapaneca", shipment="77", text="Lost.")
    assert opened().company == cafe
