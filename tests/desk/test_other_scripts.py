"""Search finds digits of other scripts, marks, and letters in either Unicode form."""

import unicodedata
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from companies.models import Company
from core.values.spellings import FULL_WIDTH, SCRIPTS
from deliveries import publishing
from desk.queue import search
from tests import builders as build
from tests.desk.test_palette import titles
from tests.desk.test_queues import LIST
from tests.desk.test_search import listed_ids, opened, say
from tests.plans import offer_only

DIGITS = "0123456789"
NUMBER = "4070012345"


def in_digits(number: str, digits: str) -> str:
    return number.translate(str.maketrans(DIGITS, digits))


@pytest.mark.parametrize("digits", [FULL_WIDTH, *SCRIPTS])
def test_numbers_in_digits_of_any_script_are_found(
    desk: Client, api: APIClient, company: Company, digits: str
) -> None:
    parcel = build.shipment(company, 88_000_001, tracking_number=NUMBER)
    ticket = build.ticket(company, shipment_id=parcel.pk)
    webhook = build.webhook(company)
    publishing.publish([build.news(company, parcel.pk, tracking_number=NUMBER)])
    typed = in_digits(NUMBER, digits)

    for number in (str(ticket.pk), f"#{ticket.pk}", str(parcel.pk), NUMBER):
        assert opened(desk, in_digits(number, digits)) == ticket.pk, number
    assert listed_ids(desk, typed[:6]) == [ticket.pk]
    assert f"#{ticket.pk}" in titles(desk, typed)
    assert str(parcel.pk) in desk.get("/admin/shipments/shipment/", {"q": typed}).content.decode()
    by_company = desk.get(
        LIST, {"queue": "everything", "company": in_digits(str(company.pk), digits)}
    ).content.decode()
    assert f"{LIST}{ticket.pk}/change/" in by_company

    def listed(**query: Any) -> list[int]:
        return [one["id"] for one in api.get("/company/tickets", query).json()["data"]]

    assert listed(tracking_number=typed) == [ticket.pk]
    assert [one["id"] for one in api.get(f"/guide/{typed}").json()["data"]] == [parcel.pk]
    log = api.get(f"/webhooks/{webhook.pk}/deliveries", {"tracking_number": typed}).json()
    assert [one["shipment_id"] for one in log["data"]] == [parcel.pk]


@pytest.mark.parametrize("typed", [DIGITS, SCRIPTS[0]])
def test_a_number_in_a_text_is_found_whichever_digits_either_has(
    desk: Client, api: APIClient, company: Company, typed: str
) -> None:
    tickets, tickets_with_note = [], []
    for digits in (DIGITS, FULL_WIDTH, *SCRIPTS):
        number = in_digits("778899", digits)
        tickets.append(build.ticket(company, comments=f"Pedido {number} roto").pk)
        ticket_with_note = build.ticket(company)
        say(ticket_with_note, f"Ver {number}.")
        tickets_with_note.append(ticket_with_note.pk)
    query = in_digits("778899", typed)

    assert sorted(listed_ids(desk, query)) == sorted([*tickets, *tickets_with_note])
    assert sorted(listed_ids(desk, f'"pedido {query}"')) == tickets
    assert listed_ids(desk, f"roto -{query}") == []
    rows = api.get("/company/tickets", {"q": f"pedido {query}"}).json()["data"]
    assert {one["id"] for one in rows} >= set(tickets[:4])


# Stored text and a query that finds it.
WORDS = [
    ("Αθήνας", "ΑΘΗΝΑΣ"),
    ("ΑΘΗΝΑΣ", "αθηνας"),
    ("ΑΘΗΝΑΣ", "αθήνας"),
    ("αθηνας", "ΑΘΉΝΑΣ"),
    ("ガラス", "ガラス"),
    ("ガラス", unicodedata.normalize("NFD", "ガラス")),
    (unicodedata.normalize("NFD", "ガラス"), "ガラス"),
    ("カタログ", "\uff76\uff80\uff9b\uff78\uff9e"),
    ("\uff76\uff9e\uff97\uff7d", "ガラス"),
    ("Straße", "strasse"),
    ("STRASSE", "straße"),
    ("İstanbul", "istanbul"),
    ("\u0131sparta", "ISPARTA"),
    (unicodedata.normalize("NFD", "Ñandú"), "ñandú"),
    ("Ñandú", unicodedata.normalize("NFD", "ñandú")),
    ("Việt", unicodedata.normalize("NFD", "việt")),
]


@pytest.mark.parametrize(("text", "typed"), WORDS)
def test_words_are_found_whichever_form_their_letters_have(
    desk: Client, company: Company, text: str, typed: str
) -> None:
    ticket = build.ticket(company, comments=f"Caja {text} rota")
    namesake = build.company(f"Casa {text}")

    assert listed_ids(desk, typed) == [ticket.pk]
    assert listed_ids(desk, f'"caja {typed}"') == [ticket.pk]
    assert [one.name for one in search.search_names.search_companies(typed)] == [namesake.name]


@pytest.mark.parametrize("typed", ["ΑΘΗΝΑΣ", "αθηνας"])
@pytest.mark.parametrize("text", ["ΑΘΗΝΑΣ", "αθηνας"])
def test_a_company_finds_its_words_with_either_sigma(
    api: APIClient, company: Company, text: str, typed: str
) -> None:
    ticket = build.ticket(company, comments=f"Caja {text} rota")

    rows = api.get("/company/tickets", {"q": typed}).json()["data"]

    assert [one["id"] for one in rows] == [ticket.pk]


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("Ñandú", unicodedata.normalize("NFD", "ñandú")),
        (unicodedata.normalize("NFD", "Ñandú"), "ñandú"),
        ("カタログ", "\uff76\uff80\uff9b\uff78\uff9e"),
        ("abc", "\uff21\uff22\uff23"),
    ],
)
def test_a_company_finds_its_words_whichever_form_their_letters_have(
    api: APIClient, company: Company, text: str, typed: str
) -> None:
    ticket = build.ticket(company, comments=f"Caja {text} rota")

    rows = api.get("/company/tickets", {"q": typed}).json()["data"]

    assert [one["id"] for one in rows] == [ticket.pk]


def test_part_of_a_name_in_ideographs_is_found(company: Company) -> None:
    tokyo = build.company("東京都運送")

    for part in ("京都", "東京", "運送", "東京都運"):
        assert [one.id for one in search.search_names.search_companies(part)] == [tokyo.pk]
    assert search.search_names.search_companies("都") == []


def test_minus_excludes_a_word_in_the_company_s_list_too(api: APIClient, company: Company) -> None:
    build.ticket(company, comments="caja 778899")
    other = build.ticket(company, comments="caja 11")

    rows = api.get("/company/tickets", {"q": "caja -778899"}).json()["data"]

    assert [one["id"] for one in rows] == [other.pk]


@pytest.mark.parametrize("stored", ["1Z 999 AA1 01", "1z999aa101"])
@pytest.mark.parametrize("query", ["1Z999AA101", "1z-999-aa1-01", "\uff11Z999AA101"])
def test_delivery_log_finds_every_spelling_of_a_number(
    api: APIClient, company: Company, birch: Company, stored: str, query: str
) -> None:
    webhook = build.webhook(company)
    build.webhook(birch)
    publishing.publish(
        [
            build.news(company, 5, tracking_number=stored),
            build.news(company, 6, tracking_number="1Z999AA102"),
            build.news(birch, 7, tracking_number=stored),
        ]
    )
    offer_only("event_number")

    log = api.get(f"/webhooks/{webhook.pk}/deliveries", {"tracking_number": query}).json()

    assert [one["shipment_id"] for one in log["data"]] == [5]


def test_delivery_log_finds_a_number_of_symbols(api: APIClient, company: Company) -> None:
    webhook = build.webhook(company)
    publishing.publish(
        [
            build.news(company, 5, tracking_number="---"),
            build.news(company, 6, tracking_number="--"),
            build.news(company, 7, tracking_number=""),
        ]
    )
    offer_only("event_signs", "event_number")

    log = api.get(f"/webhooks/{webhook.pk}/deliveries", {"tracking_number": "---"}).json()

    assert [one["shipment_id"] for one in log["data"]] == [5]
