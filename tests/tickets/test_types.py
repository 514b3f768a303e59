import html
import json
from base64 import urlsafe_b64decode
from collections.abc import Callable

import pytest
from django.contrib.auth import get_user_model
from django.http import HttpResponse
from django.test import Client
from rest_framework.test import APIClient

from companies.models import Company
from tests.tickets.catalogue import CATALOGUE
from tickets import agents
from tickets.models import TicketType
from tickets.statuses import Status


def test_ships_the_catalogue_that_was_decided(db: None) -> None:
    rows = TicketType.objects.values_list("id", "name", "reference", "reference_required")

    assert list(rows) == CATALOGUE


def test_serves_the_catalogue(api: APIClient) -> None:
    types = api.get("/tickets/types").json()["data"]

    assert [one["id"] for one in types] == [id for id, *_ in CATALOGUE]
    assert types[2] == {
        "id": 4,
        "name": "lost",
        "description": "A shipment is lost",
        "rules": {
            "reference": "guide",
            "inputs": [],
            "files": [],
            "mcp_context": {
                "is_blocked": False,
                "use_case": "A shipment is lost",
                "requires_guide": True,
                "agent_notes": [],
            },
        },
        "type": "guide",
        "active": 1,
    }


def test_serves_what_operators_made_of_it(api: APIClient) -> None:
    TicketType.objects.filter(pk=2).update(active=False)
    TicketType.objects.create(id=77, name="customs", description="Held at customs")

    types = {one["id"]: one for one in api.get("/tickets/types").json()["data"]}

    assert 2 not in types
    assert types[77]["name"] == "customs"


def test_serves_one_type(api: APIClient) -> None:
    TicketType.objects.filter(pk=2).update(active=False)

    assert [one["id"] for one in api.get("/tickets/types?id=5").json()["data"]] == [5]
    # A retired type is not offered (decision N27), and an unknown one does not exist.
    assert api.get("/tickets/types?id=2").json() == {"data": []}
    assert api.get("/tickets/types?id=99").json() == {"data": []}
    assert api.get("/tickets/types?id=x").json()["errors"][0]["code"] == "wrong_type"


def test_serves_fields_for_programs(api: APIClient) -> None:
    TicketType.objects.filter(pk=10).update(
        inputs=[{"name": "box", "el": "input", "required": True}],
        files=[{"name": "Photo"}],
        assistants_blocked=True,
        use_case="A package waits at the PO box.",
        assistant_notes="Only for our own boxes.\n\n Not for refunds. \n",
    )

    (row,) = api.get("/tickets/types?id=10").json()["data"]

    assert row["rules"] == {
        "reference": "warehouse-package",
        "inputs": [{"name": "box", "el": "input", "required": True}],
        "files": [{"name": "Photo"}],
        "mcp_context": {
            "is_blocked": True,
            "use_case": "A package waits at the PO box.",
            "requires_guide": False,
            "agent_notes": ["Only for our own boxes.", "Not for refunds."],
        },
    }


def test_lists_what_tickets_can_be_filtered_by(api: APIClient) -> None:
    TicketType.objects.filter(pk=2).update(active=False)

    options = api.get("/tickets/filters-options").json()

    assert options["statuses"][0] == {"value": 1, "lang": "pending"}
    assert [one["value"] for one in options["statuses"]] == list(Status)
    # A retired type too: its tickets are still in the list.
    assert [one["value"] for one in options["types"]] == [id for id, *_ in CATALOGUE]
    assert options["types"][2] == {"value": 4, "lang": "lost"}
    for kind, name in (("statuses", "status"), ("types", "type")):
        for option in options[kind]:
            answer = api.get("/company/tickets", {name: option["value"]})
            assert answer.status_code == 200


@pytest.fixture
def edit(client: Client, db: None) -> Callable[..., HttpResponse]:
    """Return a function that edits the type "damaged" at the desk as somebody of a group."""

    def change(group: str, **fields: str) -> HttpResponse:
        user = get_user_model().objects.create_user(group, is_staff=True)
        user.groups.add(agents.group(group))
        client.force_login(user)
        form = {"description": "D", "inputs": "[]", "files": "[]", **fields}
        return client.post("/admin/tickets/tickettype/5/change/", form)

    return change


def test_a_lead_says_what_programs_go_by_and_no_more(edit: Callable[..., HttpResponse]) -> None:
    inputs = '[{"name": "content", "el": "input", "required": true}]'

    answer = edit("lead", inputs=inputs, use_case="It is broken.", reference="credit")

    assert answer.status_code == 302
    changed = TicketType.objects.get(pk=5)
    assert (changed.inputs[0]["name"], changed.use_case) == ("content", "It is broken.")
    assert (changed.reference, changed.active) == ("guide", True)


def test_an_agent_changes_nothing_of_a_type(edit: Callable[..., HttpResponse]) -> None:
    assert edit("agent", use_case="Mine.").status_code == 403
    assert TicketType.objects.get(pk=5).use_case == ""


@pytest.mark.parametrize("text", ["{}", "null", "[]", ""])
def test_empty_value_is_an_empty_list(edit: Callable[..., HttpResponse], text: str) -> None:
    assert edit("lead", inputs=text, files=text).status_code == 302

    changed = TicketType.objects.get(pk=5)
    assert (changed.inputs, changed.files) == ([], [])


@pytest.mark.parametrize(
    ("field", "text", "says"),
    [
        ("inputs", '{"name": "a"}', "Write a JSON list of objects"),
        ("inputs", '["content"]', "Write a JSON list of objects"),
        ("inputs", '[{"name": "a"}]', "Each entry needs el, required"),
        ("inputs", '[{"name": "a", "el": "box", "required": true}]', "one of input, select"),
        ("inputs", '[{"name": "a", "el": "input", "required": 1}]', "true or false"),
        ("inputs", '[{"name": "a", "el": "input", "required": true, "x": 1}]', "An entry has no"),
        (
            "inputs",
            '[{"name": "a", "el": "select", "required": true, "options": [1]}]',
            "a list of texts",
        ),
        ("files", '[{"name": 5}]', "is a text"),
        ("files", "[", "Enter a valid JSON"),
    ],
)
def test_invalid_json_for_programs_is_refused(
    edit: Callable[..., HttpResponse], field: str, text: str, says: str
) -> None:
    answer = edit("lead", **{field: text})

    assert answer.status_code == 200
    assert says in html.unescape(answer.content.decode())
    assert getattr(TicketType.objects.get(pk=5), field) == []


def test_a_company_reads_its_own_id_as_clients_of_the_live_platform_do(
    api: APIClient, birch_api: APIClient, company: Company, birch: Company
) -> None:
    for caller, own in ((api, company), (birch_api, birch)):
        answer = caller.get("/user-information").json()

        assert answer["data"] == {"company_id": own.pk}
        head, middle, _ = answer["token"].split(".")
        assert json.loads(urlsafe_b64decode(middle + "==")) == {"data": {"company_id": own.pk}}
        assert json.loads(urlsafe_b64decode(head + "==")) == {"alg": "none"}
    bearer = {"Authorization": f"Bearer {answer['token']}"}
    assert APIClient().get("/user-information", headers=bearer).status_code == 401
