from rest_framework.test import APIClient

from tests.tickets.catalogue import CATALOGUE
from tickets.models import TicketType


def test_ships_the_catalogue_that_was_decided(db: None) -> None:
    rows = TicketType.objects.values_list("id", "name", "reference", "reference_required")

    assert list(rows) == CATALOGUE


def test_serves_the_catalogue(api: APIClient) -> None:
    shown = api.get("/tickets/types").json()["data"]

    assert [one["id"] for one in shown] == [id for id, *_ in CATALOGUE]
    assert shown[2] == {
        "id": 4,
        "name": "lost",
        "description": "A shipment is lost",
        "rules": {"reference": "guide", "inputs": []},
        "type": "guide",
        "active": 1,
    }


def test_serves_what_operators_made_of_it(api: APIClient) -> None:
    TicketType.objects.filter(pk=2).update(active=False)
    TicketType.objects.create(id=77, name="customs", description="Held at customs")

    shown = {one["id"]: one for one in api.get("/tickets/types").json()["data"]}

    assert 2 not in shown
    assert shown[77]["name"] == "customs"
