"""Search by what callers say: "folio 399", the name of a carrier, a kind of incident."""

import pytest
from django.core.cache import cache
from django.test import Client

from companies.models import Company
from desk.common import search_terms
from desk.queue import search
from tests import builders as build
from tests.desk.test_queues import LIST, listed
from tests.desk.test_search import listed_ids, opened
from tests.desk.words import words
from tickets.models import Agent

LOST, DAMAGED, THEFT = 4, 5, 13


@pytest.fixture(autouse=True)
def _no_names_kept() -> None:
    """Clear the cache of names of carriers, types and agents."""
    cache.clear()


@pytest.mark.parametrize(
    "typed",
    [
        "folio {0}",
        "FOLIO #{0}",
        "Ticket {0}",
        "ticket #{0}",
        "ticket no. {0}",
        "Ticket n.º {0}",
        "ticket nº{0}",
        "folio núm. {0}",
        "folio número {0}",
        "caso {0}",
        "Case {0}",
        "# {0}",
        "Ticket {0}: nos falta información suya",
        "RE: Ticket {0} needs something from you",
        "RV: Recordatorio: ticket {0}, última llamada",
        "Fwd: Re: Your ticket {0} was declined",
    ],
)
def test_a_ticket_is_opened_by_its_number_however_it_is_named(
    desk: Client, company: Company, typed: str
) -> None:
    ours = build.ticket(company).pk
    # The id of one ticket is the shipment id of the other.
    build.ticket(company, shipment_id=ours)

    assert opened(desk, typed.format(ours)) == ours


@pytest.mark.parametrize(
    "typed", ["folio", "ticket {0}x", "caso {0} piezas", "folio 99999999999999999999"]
)
def test_what_names_no_ticket_is_searched_as_words(
    desk: Client, company: Company, typed: str
) -> None:
    ours = build.ticket(company).pk

    assert opened(desk, typed.format(ours)) is None
    assert search_terms.read_terms(typed.format(ours)).is_ticket is False


def test_tickets_are_found_by_their_carrier(desk: Client, company: Company, birch: Company) -> None:
    ours = [
        build.ticket(company, carrier_name=one).pk for one in ("Estafeta", "ESTAFETA ", "estafeta")
    ]
    theirs = build.ticket(birch, carrier_name="Estafeta").pk
    paquete = build.ticket(birch, carrier_name="Paquete Exprés").pk
    build.ticket(birch, carrier_name="redpack", comments="Estafado.")

    for typed in ("estafeta", "Estafe", "ESTAFETA"):
        assert listed_ids(desk, typed) == [theirs, *ours[::-1]], typed
    for typed in ("paquete expres", "exprés"):
        assert listed_ids(desk, typed) == [paquete], typed
    assert "Includes the tickets of these carriers: Estafeta" in words(
        desk.get(LIST, {"q": "estafet"}).content.decode()
    )
    assert listed(desk, q="estafeta", company=birch.pk, queue="everything") == [theirs]
    # For a mistyped name, the carrier is offered.
    near = desk.get(LIST, {"q": "estafetta"}).content.decode()
    assert "Did you mean: Estafeta" in words(near)


def test_tickets_are_found_by_their_type_in_either_language(desk: Client, company: Company) -> None:
    theft = build.ticket(company, type_id=THEFT).pk
    damaged = build.ticket(company, type_id=DAMAGED, comments="Robotic arm, broken.").pk
    lost = build.ticket(company, type_id=LOST).pk

    for typed in ("robo", "Theft"):
        assert theft in listed_ids(desk, typed)
    assert listed_ids(desk, "theft") == [theft]
    # Words in messages are still found.
    assert listed_ids(desk, "robo") == [damaged, theft]
    assert listed_ids(desk, "extravío") == listed_ids(desk, "lost") == [lost]
    assert "Includes the tickets of these types: Theft" in words(
        desk.get(LIST, {"q": "robo"}).content.decode()
    )


def test_the_palette_leads_to_a_carrier_and_a_type(agent: Agent, company: Company) -> None:
    build.ticket(company, carrier_name="Estafeta", type_id=THEFT)
    build.ticket(company, carrier_name="estafeta", type_id=LOST)

    [carrier] = search.find("estafeta", agent.user).labels
    [kind] = search.find("robo", agent.user).labels
    assert (carrier.kind, carrier.link) == (
        "carrier",
        f"{LIST}?queue=everything&carrier_name=Estafeta",
    )
    assert (kind.title, kind.link) == ("Theft", f"{LIST}?queue=everything&type={THEFT}")


def test_the_palette_offers_the_ticket_before_its_shipment(agent: Agent, company: Company) -> None:
    build.shipment(company, 4101, tracking_number="99M6003507412")
    ours = build.ticket(company, shipment_id=4101).pk

    for typed in ("6003507", "99m600", "99M6003507412"):
        first, *rest = search.find(typed, agent.user).hits()
        assert (first.kind, first.id) == ("ticket", ours), typed
        assert [one.kind for one in rest] == ["shipment"], typed
