"""Search finds tickets by what agents know of them, through indexes, and always bounded."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from companies.models import Company
from desk.queue import search
from tests import builders as build
from tests.desk.test_queues import LIST, listed
from tests.desk.words import words
from tests.plans import offer_only
from tickets import agents
from tickets.changes import search_entries
from tickets.models import (
    Agent,
    Comment,
    Document,
    RequestedDocument,
    Ticket,
)


def say(ticket: Ticket, text: str, *, public: bool = True) -> None:
    Comment.objects.create(
        ticket=ticket, by="agent", public=public, text=text, status=1, created_at=timezone.now()
    )


def opened(desk: Client, q: str, **query: Any) -> int | None:
    """Return the ticket that a search opens at once; None where it shows a list."""
    answer = desk.get(LIST, {"q": q, **query})
    if answer.status_code == 200:
        return None
    return int(answer.headers["Location"].split("/")[-3])


def listed_ids(desk: Client, q: str) -> list[int]:
    """Return the matches on a list that opens no ticket at once."""
    return listed(desk, q=q, queue="everything", status="")


def test_opens_what_is_named_exactly(desk: Client, company: Company, birch: Company) -> None:
    build.shipment(company, 88_000_001, tracking_number="99M6003507-X")
    ours = build.ticket(
        company, shipment_id=88_000_001, status=2, data='{"order": "ALT-20209", "boxes": 20209}'
    ).pk
    build.ticket(birch, comments="Like 99M6003507, and 88000001.")

    for query in (f"#{ours}", str(ours), "99M6003507-X", "99m6 0035 07x", "alt20209", "ALT-20209"):
        assert opened(desk, query) == ours, query
    assert opened(desk, "88000001", queue="mine") == ours
    # A query with filters shows a list, and a quoted one searches words.
    assert opened(desk, str(ours), status="2") is None
    assert opened(desk, '"ALT-20209"') is None


def test_lists_what_several_tickets_are_named_by(
    desk: Client, company: Company, birch: Company
) -> None:
    build.shipment(company, 88_000_001, tracking_number="AB12CD")
    ours = [build.ticket(company, shipment_id=88_000_001, type_id=one).pk for one in (4, 5)]
    # A ticket of another company that names this number.
    theirs = build.ticket(birch, shipment_id=88_000_001).pk

    assert listed(desk, q="ab 12-cd") == ours[::-1]
    assert listed(desk, q=" 88000001 ", queue="mine") == [theirs, *ours[::-1]]
    for nothing in ("9" * 30, "\u0661", "AB12CE", "12C"):
        assert listed(desk, q=nothing) == []


def test_finds_parts_of_tracking_numbers(desk: Client, company: Company) -> None:
    build.shipment(company, 4101, tracking_number="99M6-0035 07412")
    ours = build.ticket(company, shipment_id=4101).pk
    build.shipment(company, 4102, tracking_number="99M7003507")
    build.ticket(company, shipment_id=4102)

    for part in ("99M60035", "99m6 0035", "6003507", "7412", "0-0-3-5-0-7-4"):
        assert listed_ids(desk, part) == [ours], part
    # It contains 1234 and 2345, but not 12345.
    build.shipment(company, 4103, tracking_number="1234-9-2345")
    build.ticket(company, shipment_id=4103)
    assert listed_ids(desk, "12345") == []


def test_finds_the_tracking_number_of_a_shipment_that_was_named_later(
    desk: Client, company: Company
) -> None:
    ours = build.ticket(company, shipment_id=4101).pk
    build.shipment(company, 4101, tracking_number="99M6003507412")

    assert listed(desk, q="6003507") == []
    assert opened(desk, "99m6003507412") == ours
    search_entries.add_known_shipments()
    assert listed(desk, q="6003507") == [ours]


def test_finds_companies_by_parts_of_their_names_without_accents(
    desk: Client, company: Company
) -> None:
    altura = build.ticket(build.company("Café Altura")).pk
    nunez = build.ticket(build.company("Ferretería Núñez e Hijos")).pk
    build.ticket(company)

    for part in ("Altura", "cafe", "CAFÉ ALT", "altu", "tura"):
        assert listed_ids(desk, part) == [altura], part
    for part in ("ferreteria", "Ñuñez", "nunez", "hij nun", "errete", "e ferr"):
        assert listed_ids(desk, part) == [nunez], part
    for nothing in ("fetura", "%", "__", "ura", "cafe nunez"):
        assert listed_ids(desk, nothing) == [], nothing
    assert "Includes the tickets of these companies: Café Altura" in words(
        desk.get(LIST, {"q": "altura"}).content.decode()
    )


def test_finds_tickets_by_their_agent(desk: Client, company: Company) -> None:
    maria = build.agent("maria.gonzalez")
    maria.user.first_name, maria.user.last_name = "María", "González Ruiz"
    maria.user.save()
    hers = build.ticket(company, agent=maria).pk
    build.ticket(company)

    for name in ("maria.gonzalez", "mari", "Gonzalez maria", "ruiz"):
        assert listed_ids(desk, name) == [hers], name
    assert listed_ids(desk, "aria") == []


@pytest.mark.parametrize("typed", ["altuta", "atura", "aaltura", "altrua", "cafe alturq"])
def test_offers_a_company_whose_name_was_mistyped_by_a_letter(
    desk: Client, company: Company, typed: str
) -> None:
    build.ticket(build.company("Café Altura"))

    html = desk.get(LIST, {"q": typed}).content.decode()

    assert f"No ticket for “{typed}”. Did you mean: Café Altura" in words(html)
    assert "?q=Caf%C3%A9+Altura" in html


def test_offers_an_agent_whose_name_was_mistyped_and_nobody_for_two_letters(
    desk: Client, agent: Agent
) -> None:
    build.agent("isabel")
    assert "Did you mean: isabel" in words(desk.get(LIST, {"q": "isbael"}).content.decode())
    for typed in ("isbale", "xsabex", "isa"):
        assert "Did you mean" not in desk.get(LIST, {"q": typed}).content.decode(), typed


def test_finds_variables_documents_and_files_by_name(desk: Client, company: Company) -> None:
    # Many clients escape it as \\u00f1.
    data = '{"customer": "Jose Pe\\u00f1a", "phone": "+52 55-1234-5678", "boxes": 3}'
    first = build.ticket(company, data=data)
    second = build.ticket(company)
    Document.objects.create(
        ticket=second, position=0, field_id="7", key="Factura", type="input", value="F-77"
    )
    third = build.ticket(company)
    RequestedDocument.objects.create(
        ticket=third, name="Carta de reclamación", created_at=timezone.now()
    )
    build.file(company, ticket=third, name="foto_caja-rota.png")
    build.file(company, name="foto suelta.png")

    assert listed_ids(desk, "peña") == listed_ids(desk, "jose pen") == [first.pk]
    assert opened(desk, "+525512345678") == opened(desk, "+52 55 1234 5678") == first.pk
    assert listed_ids(desk, "factur") == [second.pk]
    assert listed_ids(desk, "reclamacion") == listed_ids(desk, "caja rota png") == [third.pk]
    assert listed_ids(desk, "suelta") == []


def test_finds_what_a_company_s_variables_say_now(desk: Client, company: Company) -> None:
    ticket = build.ticket(company, data='{"order": "ALT-1111"}')
    ticket.data = '{"order": "ALT-2222"}'
    ticket.save()

    assert opened(desk, "alt-2222") == ticket.pk
    assert listed_ids(desk, "alt-1111") == []


def test_takes_variables_that_postgresql_cannot_read(desk: Client, company: Company) -> None:
    """Trap: half a pair of surrogates, and a NUL, are JSON to some and none to PostgreSQL."""
    for broken in (r'{"a": "\ud83d lone"}', r'{"a": "\u0000 lone"}'):
        assert build.ticket(company, data=broken).pk in listed_ids(desk, "lone")


@pytest.mark.parametrize("text", ["x" * 65_000, "ab " * 20_000, "\ufdfa1 \ufdfa2 " * 8_000])
def test_takes_the_longest_texts_and_words(desk: Client, company: Company, text: str) -> None:
    """Trap: PostgreSQL takes no word of 2 KB, nor a megabyte of words."""
    ticket = build.ticket(company, comments=f"first {text}", data=f'{{"a": "{text}"}}')
    say(ticket, f"second {text}")

    assert listed_ids(desk, "first") == listed_ids(desk, "second") == [ticket.pk]


ODD = [
    "x" * 10_000,
    "%",
    "_",
    "'",
    '"',
    '""',
    "\\",
    "a\x00b",
    "a",
    "-",
    "-a",
    "#",
    "#0",
    "$",
    ":*",
    "a:*&!('",
    "\x01",
    " ".join(f"word{n}" for n in range(50)),
    "\u05e9\u05dc\u05d5\u05dd \u200f\u0645\u0631\u062d\u0628\u0627",
    "\U0001f4e6 \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\ufdfa" * 200,
    "e\u0301" * 90,
    "ﬁ Ⅳ ½",
]


def test_answers_whatever_is_typed_with_few_statements(
    desk: Client, company: Company, agent: Agent
) -> None:
    build.ticket(company, comments="any")

    for typed in ODD:
        with CaptureQueriesContext(connection) as queries:
            search.find(typed, agent.user)
        assert len(queries) < 16, typed
        assert max(len(query["sql"]) for query in queries.captured_queries) < 20_000, typed
    for typed in (ODD[0], "\x00", "a:*&!('", "'\"%_\\"):
        assert desk.get(LIST, {"q": typed}).status_code == 200, typed


def test_has_an_index_for_every_place_that_has_words(desk: Client, company: Company) -> None:
    """Trap: an index over an expression that a statement does not repeat letter by letter."""
    build.ticket(company, comments="any")
    with CaptureQueriesContext(connection) as queries:
        listed(desk, q="any 99m6", status="")
    (statement,) = [
        one["sql"] for one in queries.captured_queries if "generate_series" in one["sql"]
    ]

    indexes = (
        "search_terms_of_ticket",
        "comment_search",
        "document_search",
        "requested_search",
        "file_search",
        "shipment_search_key",
        "ticket_carrier_newest",
        "ticket_type_newest",
    )
    offer_only(*indexes)

    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {statement.replace('%', '%%')}", None)
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert [index for index in indexes if f"{index} " not in plan] == []


def test_finds_by_words_of_the_first_text_and_of_the_conversation(
    desk: Client, company: Company
) -> None:
    first = build.ticket(company, comments="The box was Wet, and torn open.").pk
    second = build.ticket(company, comments="Where is it?")
    say(second, "It got wet at the depot.", public=False)

    assert listed(desk, q="wet") == [second.pk, first]
    assert listed(desk, q="wet depot") == listed(desk, q="DÉP wet") == [second.pk]
    assert listed(desk, q='"torn open"') == [first]
    assert listed(desk, q='"open torn"') == listed(desk, q='"torn ope"') == []
    assert listed(desk, q="wet -depot") == [first]
    for nothing in ("we", "dry", "!", "-", '"', "~0", "block 0", "'; DROP TABLE x; --"):
        assert listed(desk, q=nothing) == []


def test_takes_the_newest_when_too_many_have_a_word_and_says_so(
    desk: Client, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search.search_tickets, "__defaults__", (2,))
    newest = [build.ticket(company, comments="late").pk for _ in range(3)][::-1]

    answer = desk.get("/admin/tickets/ticket/", {"q": "late"})

    assert [one.pk for one in answer.context["cl"].result_list] == newest[:2]
    assert "These are the newest 1,000" in answer.content.decode()
    assert (
        "These are the newest"
        not in desk.get(
            "/admin/tickets/ticket/", {"q": str(newest[0]), "status": ""}
        ).content.decode()
    )


def test_asks_for_ids_as_they_are_and_for_no_part_of_a_text(desk: Client, company: Company) -> None:
    """Trap: the admin's own search casts ids to text and upper-cases columns."""
    ticket = build.ticket(company, comments="4101 is lost")
    with CaptureQueriesContext(connection) as queries:
        assert listed(desk, q="4101 lost") == [ticket.pk]
        listed(desk, q="4101", status="")

    statements = " ".join(query["sql"] for query in queries.captured_queries)
    assert "::text =" not in statements
    assert "ILIKE" not in statements
    assert "UPPER(" not in statements
    assert "LIKE '%" not in statements.replace("tracking LIKE '%'", "")


def test_asks_for_what_it_has_found_in_the_order_of_ids(desk: Client, company: Company) -> None:
    """Trap: in the order of time, PostgreSQL may walk over all tickets to find those."""
    ticket = build.ticket(company, comments="late")
    with CaptureQueriesContext(connection) as queries:
        assert listed(desk, q="late") == [ticket.pk]

    assert not any('"created_at" DESC' in query["sql"] for query in queries.captured_queries)


def test_offers_ten_tickets_at_most_in_the_palette(desk: Client, company: Company) -> None:
    """Trap: the palette's own search loads every ticket that fits."""
    for _ in range(12):
        build.ticket(company, comments="late")
    desk.get("/admin/search/", {"s": "nothing", "extended": "1"})

    with CaptureQueriesContext(connection) as queries:
        html = desk.get("/admin/search/", {"s": "late", "extended": "1"}).content.decode()

    assert html.count("/admin/tickets/ticket/") - html.count('/admin/tickets/ticket/"') == 10
    # Statements: the matches, whether it is a ticket's number, and the fields shown.
    assert sum("tickets_ticket" in query["sql"] for query in queries.captured_queries) <= 4


def test_offers_no_ticket_to_who_may_see_none(client: Client, company: Company) -> None:
    ticket = build.ticket(company, comments="late")
    clerk = build.agent("clerk")
    clerk.user.groups.clear()
    client.force_login(clerk.user)

    html = client.get("/admin/search/", {"s": "late", "extended": "1"}).content.decode()

    assert f"#{ticket.pk}" not in html


def test_offers_every_kind_in_the_palette_to_who_may_see_it(
    desk: Client, client: Client, company: Company, agent: Agent
) -> None:
    altura = build.company("Altura")
    build.agent("altumaria")
    shipment = build.shipment(altura, 4101, tracking_number="ALTU-1")
    ticket = build.ticket(altura, shipment_id=4101, comments="altu")

    hits = search.find("altu", agent.user)

    assert [one.id for one in hits.tickets] == [ticket.pk]
    assert [one.id for one in hits.shipments] == [shipment.pk]
    assert [one.title for one in hits.companies] == ["Altura"]
    assert [one.title for one in hits.agents] == ["altumaria"]
    assert (hits.near, hits.exact) == ([], None)
    for hit in hits.hits():
        assert desk.get(hit.link).status_code == 200, hit
    assert search.find("altu1", agent.user).exact == ticket.pk
    assert [one.title for one in search.find("altuar", agent.user).near] == ["Altura"]
    operator = User.objects.create_user("op", is_staff=True)
    operator.groups.add(agents.group("operator"))
    results = search.find("altu", operator)
    assert [one.kind for one in results.hits()] == ["company", "shipment"]
    assert search.find("altuar", operator).hits() == []
    assert search.find("altu", User.objects.create_user("nobody")).hits() == []
