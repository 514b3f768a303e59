"""Consequences of the row "Sample field" of `tickets/stated_fields.py` (rows.py).

Run by test_further.py, which says how to run one by itself.
"""

import csv
import json
from io import StringIO

from django.test import Client
from rest_framework.test import APIClient

from companies.models import Company
from deliveries.models import Event
from tests import builders as build
from tests.described import conforms, description, schema, webhooks
from tickets.changes.ticket_updated import TICKET_UPDATED
from tickets.models import Agent, Ticket

NAME, LABEL = "carrier_name", "Sample field"
LIST = "/admin/tickets/ticket/"


def opened(api: APIClient) -> Ticket:
    answer = api.post("/company/tickets", {"type_id": 2, NAME: "sample_high"})
    assert answer.status_code == 200, answer.json()
    return Ticket.objects.get()


def test_a_company_states_it_and_reads_it(api: APIClient) -> None:
    ticket = opened(api)

    (listed,) = api.get("/company/tickets").json()["data"]
    (detail,) = api.get(f"/company/tickets/{ticket.pk}").json()["data"]

    assert (ticket.carrier_name, listed[NAME], detail[NAME]) == ("sample_high",) * 3


def test_nothing_else_than_its_choices_is_taken(api: APIClient) -> None:
    refused = api.post("/company/tickets", {"type_id": 2, NAME: "sample_medium"})

    assert refused.status_code == 400
    assert refused.json()["errors"][0]["field"] == NAME


def test_the_description_has_it_in_both_directions() -> None:
    shapes = description()["components"]["schemas"]

    request, row = (shapes[one]["properties"][NAME] for one in ("OpenTicketRequest", "TicketRow"))
    assert {"sample_low", "sample_high"} <= set(json.dumps(request).split('"'))
    assert {"sample_low", "sample_high"} <= set(json.dumps(row).split('"'))


def test_receivers_hear_it_as_is_described(company: Company, api: APIClient) -> None:
    build.webhook(company, TICKET_UPDATED.id)

    opened(api)

    body = json.loads(bytes(Event.objects.get().body))
    assert list(body["data"].items())[-1] == (NAME, "sample_high")
    conforms(body, schema(dict(webhooks())[TICKET_UPDATED.name]["requestBody"]))


def test_the_desk_shows_it(api: APIClient, agent: Agent) -> None:
    """Choices are shown by their labels, which are translated."""
    ticket, desk = opened(api), Client()
    desk.force_login(agent.user)

    for language, label in (("en", "Declined"), ("es", "Rechazado")):
        desk.post("/admin/preferences/", {"language": language, "time_zone": ""})
        html = desk.get(f"{LIST}{ticket.pk}/change/").content.decode()
        assert f"<dt>{LABEL}</dt><dd><bdi>{label}</bdi></dd>" in html


def test_it_is_the_last_column_of_the_export(api: APIClient) -> None:
    opened(api)
    lead = Client()
    lead.force_login(build.agent("eve", group="lead").user)

    text = lead.get(f"{LIST}export/", {"queue": "open"}).getvalue().decode()

    headings, cells = csv.reader(StringIO(text))
    assert (headings[-1], cells[-1]) == (LABEL, "sample_high")
