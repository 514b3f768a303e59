"""A ticket's page: its contents for each role, and the forms sent from it."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from companies.models import Company
from core.watch import request_ids
from deliveries import publishing
from desk.models import Storm
from desk.templatetags.desk import linked
from desk.ticket import answering
from shipments.models import Shipment, TrackingUpdate
from tests import builders as build
from tests.desk.forms import picked, token
from tickets import updating, working
from tickets.changes.actors import Actor
from tickets.history_codes import Kind
from tickets.models import Agent, Comment, Document, HistoryEntry, Rating, RequestedDocument, Ticket
from tickets.statuses import AGENT_MOVES, By, Status

LIST = "/admin/tickets/ticket/"
EVIL = '<script>alert("x")</script>\'">'


@pytest.fixture
def ticket(company: Company) -> Ticket:
    return build.ticket(
        company, type_id=4, status=Status.IN_REVIEW, shipment_id=4101, comments="It is lost."
    )


@pytest.fixture
def auditor(db: None) -> Client:
    """Return the browser of a user who may only look."""
    client = Client()
    auditor = build.agent("olga", group="auditor").user
    client.force_login(auditor)
    return client


def page_html(desk: Client, ticket: Ticket, **query: Any) -> str:
    answer = desk.get(f"{LIST}{ticket.pk}/change/", query)
    assert answer.status_code == 200
    return answer.content.decode()


def write(desk: Client, ticket: Ticket, text: str = "Hello.", **more: Any) -> HttpResponse:
    headers = more.pop("headers", None)
    button = {} if "note" in more else {"reply": "1"}
    fields = {"text": text, **button, "seen": token(ticket), **more}
    return desk.post(f"{LIST}{ticket.pk}/write/", fields, headers=headers)


def say(ticket: Ticket, text: str, *, by: str = "company", ago: float = 0, **more: Any) -> Comment:
    at = timezone.now() - timedelta(minutes=ago)
    return Comment.objects.create(
        ticket=ticket, by=by, text=text, status=ticket.status, created_at=at, **more
    )


def scan(shipment: Shipment, days: float, status: str = "Shipped") -> None:
    TrackingUpdate.objects.create(
        shipment=shipment,
        digest=uuid4().bytes,
        status=status,
        occurred_at=timezone.now() - timedelta(days=days),
    )


def everything() -> list[Any]:
    return [
        list(model.objects.order_by("pk").values()) for model in (Ticket, Comment, HistoryEntry)
    ]


def test_tells_company_agent_and_note_apart_in_words(desk: Client, ticket: Ticket) -> None:
    say(ticket, "from them")
    say(ticket, "from us", by="agent", actor="ben")
    say(ticket, "among us", by="agent", actor="ben", public=False)

    html = page_html(desk, ticket)

    parts = html.split('<article class="desk-say ')[1:]
    assert [part.split('"')[0] for part in parts] == [
        "desk-company",
        "desk-company",
        "desk-agent",
        "desk-note",
    ]
    for part, words in zip(
        parts, ("opened the ticket", ">company<", ">reply<", "internal note"), strict=True
    ):
        assert words in part
        assert "</time>" in part


def test_shows_moves_in_line_and_a_reason_once(desk: Client, agent: Agent, ticket: Ticket) -> None:
    working.move(ticket.pk, Status.DECLINED, user=agent.user, reason="No proof came.")

    thread = page_html(desk, ticket).split('id="thread"')[1].split('class="desk-composer"')[0]

    assert thread.count("No proof came.") == 1
    assert 'class="desk-event"' in thread
    assert "desk-tint-red" in thread


def test_shows_the_newest_fifty_and_the_way_to_the_earlier_ones(
    desk: Client, ticket: Ticket
) -> None:
    comments = [say(ticket, f"word-{number:03}.", ago=200 - number) for number in range(120)]

    newest = page_html(desk, ticket)
    assert "word-119." in newest
    assert "word-070." in newest
    assert "word-069." not in newest
    assert f'href="?before={comments[70].pk}&amp;seen={token(ticket)}&amp;list=' in newest

    earlier = page_html(desk, ticket, before=comments[70].pk)
    assert "word-020." in earlier
    assert "word-069." in earlier
    assert "word-070." not in earlier
    assert "Newest messages" in earlier
    assert "It is lost." in earlier


@pytest.mark.parametrize("before", ["x", "-1", "9" * 40, "\u0661", "²"])
def test_survives_a_place_in_the_thread_that_is_none(
    desk: Client, ticket: Ticket, before: str
) -> None:
    assert "It is lost." in page_html(desk, ticket, before=before)


def test_keeps_the_text_of_a_stale_reply_and_says_what_changed(
    desk: Client, agent: Agent, ticket: Ticket
) -> None:
    shown_before = token(ticket)
    working.move(ticket.pk, Status.DECLINED, user=build.agent("ben").user, reason="Too late.")
    before = everything()

    answer = write(desk, ticket, "We <look> into it.", seen=shown_before)

    html = answer.content.decode()
    assert answer.status_code == 409
    assert "We &lt;look&gt; into it." in html
    assert "There is something new on this ticket." in html
    assert "ben moved it from In review to Declined" in " ".join(html.split())
    assert f'name="seen" value="{token(ticket)}"' in html
    assert everything() == before

    assert write(desk, ticket, "Sorry.").status_code == 302


def test_says_a_reply_once_that_is_sent_twice(desk: Client, ticket: Ticket) -> None:
    key = str(uuid4())

    for _ in range(2):
        assert write(desk, ticket, "Once.", key=key)["Location"].endswith("/change/")
    assert Comment.objects.count() == 1

    # The browser kept the page: other words make another answer.
    write(desk, ticket, "More.", key=key)
    assert Comment.objects.count() == 2


def test_moves_once_what_is_sent_twice(desk: Client, ticket: Ticket) -> None:
    body = {**picked(ticket), "reason": "No.", "code": "other", "key": str(uuid4())}

    for _ in range(2):
        assert desk.post(f"{LIST}move/3/", body).status_code == 302
    assert Comment.objects.count() == 1
    assert HistoryEntry.objects.count() == 1


def test_takes_a_form_again_that_was_refused(desk: Client, ticket: Ticket) -> None:
    key = str(uuid4())
    shown_before = token(ticket)
    working.write(ticket.pk, "Wait.", user=build.agent("ben").user, public=False)
    assert write(desk, ticket, "Hi.", key=key, seen=shown_before).status_code == 409

    assert write(desk, ticket, "Hi.", key=key).status_code == 302
    assert Comment.objects.get(public=True).text == "Hi."


def test_asks_for_documents_by_name_and_shows_which_have_come(
    desk: Client, company: Company, ticket: Ticket
) -> None:
    body = {
        **picked(ticket),
        "reason": "We file the claim.",
        "requested": ["Invoice", "Photo", "Photo"],
        "others": " Letter of the receiver \n\n",
    }
    assert desk.post(f"{LIST}move/4/", body).status_code == 302

    names = ["Invoice", "Photo", "Letter of the receiver"]
    assert HistoryEntry.objects.get().data == {"requested": names}
    text = Comment.objects.get().text
    assert text.startswith("We file the claim.\nPlease send:\n- Invoice\n")
    html = page_html(desk, ticket)
    assert html.count("(not received yet)<") == 3
    assert "Waiting for the company." in html

    updating.comment(company, ticket.pk, Actor(By.COMPANY, "tok"), "Here they are.")

    html = page_html(desk, ticket)
    assert html.count("(not received yet)<") == 3
    assert "The company has replied since." in html
    RequestedDocument.objects.filter(name="Photo").update(fulfilled_at=timezone.now())
    html = page_html(desk, ticket)
    assert (html.count("(received)<"), html.count("(not received yet)<")) == (1, 2)


def test_takes_documents_for_a_reason_to_ask_for_more(desk: Client, ticket: Ticket) -> None:
    body = {**picked(ticket), "requested": ["Invoice"]}

    assert desk.post(f"{LIST}move/4/", body).status_code == 302
    assert Comment.objects.get().text == "Please send:\n- Invoice"


def test_asks_for_more_documents_where_the_ticket_stays(desk: Client, ticket: Ticket) -> None:
    write(desk, ticket, "And this.", requested=["Photo"])

    assert Comment.objects.get().text == "And this.\nPlease send:\n- Photo"
    assert HistoryEntry.objects.earliest("pk").data == {"requested": ["Photo"]}
    assert page_html(desk, ticket).count("(not received yet)<") == 1


def test_asks_nobody_in_a_note(desk: Client, ticket: Ticket) -> None:
    write(desk, ticket, "hm", note="1", requested=["Photo"])

    assert Comment.objects.get().text == "hm"
    assert not HistoryEntry.objects.exists()


def test_asks_for_documents_in_no_other_move(desk: Client, ticket: Ticket) -> None:
    desk.post(f"{LIST}move/2/", {**picked(ticket), "code": "other", "requested": ["Invoice"]})

    assert HistoryEntry.objects.get().data == {"code": "other"}
    assert not Comment.objects.exists()


@pytest.mark.parametrize("names", [["x" * 201], [str(number) for number in range(31)], ["a\x00b"]])
def test_refuses_documents_that_nobody_could_name(
    desk: Client, ticket: Ticket, names: list[str]
) -> None:
    before = everything()

    desk.post(f"{LIST}move/4/", {**picked(ticket), "reason": "x", "requested": names})

    assert everything() == before


def test_gives_the_dialogs_the_fields_of_their_moves(desk: Client, ticket: Ticket) -> None:
    html = page_html(desk, ticket)
    dialogs = {
        part.split('"')[0]: part.split("</dialog>")[0] for part in html.split('id="move-')[1:]
    }
    offered = {to.slug.replace("_", "-") for to in AGENT_MOVES if to != ticket.status}
    assert set(dialogs) == offered
    assert "optional" in dialogs["accepted"]
    assert " required" in dialogs["declined"]
    assert 'name="others"' in dialogs["incomplete"]
    for dialog in dialogs.values():
        assert f'name="ticket" value="{ticket.pk}"' in dialog
        assert "csrfmiddlewaretoken" in dialog


def test_marks_what_is_new_until_the_visit_ends(desk: Client, agent: Agent, ticket: Ticket) -> None:
    page_html(desk, ticket)
    ticket.visits.update(
        seen_at=timezone.now() - timedelta(days=2), alive_at=timezone.now() - timedelta(hours=1)
    )
    say(ticket, "old words", ago=90)
    say(ticket, "new words", ago=5)
    say(ticket, "my own", by="agent", actor="ada", ago=4)

    for _ in range(2):
        html = page_html(desk, ticket)
        assert "1 new since you last looked" in html
        assert html.count('class="desk-new"') == 1
        assert html.index("old words") < html.index('id="new"') < html.index("new words")

    ticket.visits.update(alive_at=timezone.now() - timedelta(minutes=1))
    assert 'class="desk-new"' not in page_html(desk, ticket)
    assert ticket.visits.count() == 1


def test_marks_nothing_on_the_first_visit(desk: Client, ticket: Ticket) -> None:
    say(ticket, "words", ago=5)

    assert 'class="desk-new"' not in page_html(desk, ticket)


def test_reads_variables_in_their_order_and_with_their_digits(
    desk: Client, company: Company
) -> None:
    data = '{"z": 1.50, "a": {"k": [true, null, 10000000000000000000001]}, "e": {}, "b": "x"}'
    html = page_html(desk, build.ticket(company, data=data))

    listed = html.split('class="desk-variables"')[1].split("</details>")[0]
    order = [">z<", ">1.50<", ">a<", ">k<", ">true<", ">null<", ">10000000000000000000001<"]
    places = [listed.index(word) for word in [*order, ">e<", ">{}<", ">b<", ">x<"]]
    assert places == sorted(places)


@pytest.mark.parametrize(
    "data",
    [
        "{",
        "[" * 100_000,
        "nul",
        '"text"',
        "[1" + ",1" * 999 + "]",
        "NaN",
        '{"a":' * 50 + "1" + "}" * 50,
        "{" + ",".join(f'"k{number}": {number}' for number in range(5000)) + "}",
    ],
)
def test_survives_whatever_the_variables_are(desk: Client, company: Company, data: str) -> None:
    assert "desk-variables" in page_html(desk, build.ticket(company, data=data))


def test_escapes_every_text_that_others_wrote(desk: Client, company: Company) -> None:
    company.name = EVIL
    company.save()
    shipment = build.shipment(company, tracking_number=EVIL, carrier_name=EVIL, status=EVIL)
    scan(shipment, 1, EVIL)
    build.incidence(shipment, kind=EVIL, description=EVIL)
    build.fact(
        "surcharge",
        surcharge_id=1,
        shipment_id=shipment.pk,
        surcharge_type=EVIL,
        reason=EVIL,
        amount=1,
        currency="EUR",
        transaction_type="surcharge",
    )
    ticket = build.ticket(
        company,
        type_id=4,
        shipment_id=shipment.pk,
        warehouse_package_id=EVIL,
        comments=EVIL,
        data='{"<script>k": "<script>v"}',
        status=Status.INCOMPLETE,
    )
    say(ticket, EVIL, actor=EVIL)
    say(ticket, EVIL, by="agent", actor=EVIL, public=False)
    Document.objects.create(ticket=ticket, position=0, field_id=EVIL, key=EVIL, value=EVIL)
    Rating.objects.create(ticket=ticket, rating=1, comment=EVIL, created_at=timezone.now())
    HistoryEntry.objects.create(
        ticket=ticket,
        by="agent",
        actor=EVIL,
        was=1,
        now=4,
        reason=EVIL,
        data={EVIL: EVIL, "requested": [EVIL], "agent": [None, EVIL], "loads": {EVIL: [1, 2]}},
        created_at=timezone.now(),
    )
    for kind in Kind:
        HistoryEntry.objects.create(
            ticket=ticket,
            by="lead",
            actor=EVIL,
            was=4,
            now=4,
            kind=kind,
            public=False,
            reason=EVIL,
            data={
                EVIL: EVIL,
                "agent": [EVIL, EVIL],
                "requested": [EVIL],
                "sha256": EVIL,
                "variables": {"added": {EVIL: EVIL}, "removed": {EVIL: 1}, "changed": {}},
            },
            created_at=timezone.now(),
        )
    build.macro("evil", text=EVIL, requested=EVIL)

    html = page_html(desk, ticket) + page_html(desk, ticket, macro=ticket.pk)

    assert html.count("&lt;script&gt;") > 30 + 4 * len(Kind)
    for raw in ("<script>alert", "<script>k", "<script>v"):
        assert raw not in html


def test_shows_the_shipment_s_time_line_with_its_silences(
    desk: Client, company: Company, ticket: Ticket
) -> None:
    shipment = build.shipment(company, 4101, status="Shipped")
    for days in (20, 19, 7.5):
        scan(shipment, days)
    build.incidence(shipment, kind="lost", description="wet", open=False)
    build.webhook(company)
    publishing.publish([build.news(company, 4101, tracking_number=shipment.tracking_number)])
    other = build.ticket(company, shipment_id=4101, status=Status.ACCEPTED)

    html = page_html(desk, ticket)
    line = html.split('class="desk-strip"')[1].split("</ol>")[0]

    for words in (
        "no scan for 7 days",
        "501: lost",
        "wet",
        "closed",
        f"Ticket {other.pk}",
        "Accepted",
        "tracking.simple to webhook",
        "waiting",
    ):
        assert words in line
    assert line.count("no scan for") == 2
    assert line.index("no scan for 7 days") < line.index("no scan for 11 days")


def test_counts_no_silence_after_the_delivery(
    desk: Client, company: Company, ticket: Ticket
) -> None:
    scan(build.shipment(company, 4101, status="Delivered"), 30, "Delivered")

    assert "no scan for" not in page_html(desk, ticket)


def test_shows_nothing_of_another_company_s_shipment(
    desk: Client, company: Company, birch: Company, ticket: Ticket
) -> None:
    theirs = build.shipment(birch, 4101, tracking_number="SECRET")
    scan(theirs, 1, "Hidden")
    build.incidence(theirs, description="confidential")
    build.webhook(birch)
    publishing.publish([build.news(birch, 4101, tracking_number="SECRET")])

    html = page_html(desk, ticket)

    assert "4101: unknown shipment" in html
    for words in ("SECRET", "Hidden", "confidential", "tracking.simple"):
        assert words not in html


def test_shows_no_delivery_of_another_company_s_parcel_of_the_same_number(
    desk: Client, company: Company, birch: Company, ticket: Ticket
) -> None:
    shipment = build.shipment(company, 4101)
    build.webhook(birch)
    publishing.publish([build.news(birch, 4101, tracking_number=shipment.tracking_number)])

    assert "to webhook" not in page_html(desk, ticket)


def test_shows_no_delivery_of_another_parcel_of_the_same_number(
    desk: Client, company: Company, ticket: Ticket
) -> None:
    shipment, other = build.shipment(company, 4101), build.shipment(company, 4102)
    Shipment.objects.filter(pk=other.pk).update(tracking_number=shipment.tracking_number)
    build.webhook(company)
    publishing.publish([build.news(company, 4102, tracking_number=shipment.tracking_number)])
    assert "to webhook" not in page_html(desk, ticket)

    publishing.publish([build.news(company, 4101, tracking_number=shipment.tracking_number)])
    assert page_html(desk, ticket).count("to webhook") == 1


def test_explains_an_assignment_by_the_loads_of_then(desk: Client, ticket: Ticket) -> None:
    HistoryEntry.objects.create(
        ticket=ticket,
        by="system",
        now=6,
        was=6,
        public=False,
        kind=Kind.ASSIGNED,
        data={
            "agent": [None, "ben"],
            "rule": "least_busy",
            "loads": {"ada": [7, 50], "ben": [2, 50]},
        },
        created_at=timezone.now(),
    )

    html = page_html(desk, ticket)

    table = html.split("Why this agent?")[1].split("</table>")[0]
    assert table.index("ben") < table.index("ada")
    assert "least busy" in table
    assert "busier" in table


def test_shows_clocks_that_are_set(desk: Client, company: Company) -> None:
    now = timezone.now()
    ticket = build.ticket(
        company,
        first_response_due_at=now - timedelta(hours=2),
        first_responded_at=None,
        resolution_due_at=now + timedelta(hours=1),
        filing_due_at=now + timedelta(days=9),
    )

    html = page_html(desk, ticket)

    for state in ("desk-clock-overdue", "desk-clock-soon", "desk-clock-running"):
        assert state in html


def test_says_that_a_clock_rests_though_nobody_knows_until_when(
    desk: Client, company: Company
) -> None:
    ticket = build.ticket(company, status=Status.INCOMPLETE, resolution_due_at=None)

    html = page_html(desk, ticket)

    assert "desk-clock-paused" in html
    assert "desk-clock-overdue" not in html


def test_lets_an_auditor_look_and_do_nothing(
    auditor: Client, agent: Agent, ticket: Ticket, company: Company
) -> None:
    say(ticket, "words")
    html = page_html(auditor, ticket)
    assert "It is lost." in html
    for part in (
        "/write/",
        "/claim/",
        "/take/",
        "/move/",
        "<textarea",
        "data-presence",
        'id="move-',
        "hand-over-dialog",
    ):
        assert part not in html
    assert not ticket.visits.exists()

    before = everything()
    for address, body in (
        (f"{LIST}{ticket.pk}/write/", {"text": "x", "reply": "1"}),
        (f"{LIST}{ticket.pk}/presence/", {"writing": "1"}),
        (f"{LIST}{ticket.pk}/claim/", {}),
        (f"{LIST}take/", {}),
        (f"{LIST}move/2/", {"ticket": str(ticket.pk)}),
        (f"{LIST}{ticket.pk}/change/", {"status": 2}),
    ):
        assert auditor.post(address, body).status_code == 403
    assert everything() == before
    assert not ticket.visits.exists()


@pytest.mark.parametrize("page", ["write", "presence", "claim"])
def test_does_nothing_by_a_link(desk: Client, ticket: Ticket, page: str) -> None:
    before = everything()

    assert desk.get(f"{LIST}{ticket.pk}/{page}/").status_code == 405
    assert desk.get(f"{LIST}take/").status_code == 405
    assert everything() == before
    assert not ticket.visits.exists()


def test_changes_nothing_by_being_read_but_the_marks_that_somebody_read_it(
    desk: Client, ticket: Ticket
) -> None:
    before = everything()

    with CaptureQueriesContext(
        connection,
    ) as queries:
        page_html(desk, ticket)

    assert everything() == before
    write_statements = [one["sql"] for one in queries if not one["sql"].startswith("SELECT")]
    writes = [sql for sql in write_statements if "INSERT" in sql or "UPDATE" in sql]
    assert [("tickets_notification" in sql, "desk_visit" in sql) for sql in writes] == [
        (True, False),
        (False, True),
    ]


def test_a_line_end_is_one_character(desk: Client, ticket: Ticket) -> None:
    """Count a line end as one, though a browser sends two: the box's limit does so too."""
    line = "a" * 199

    write(desk, ticket, "\r\n".join([line] * 100))

    assert Comment.objects.get(ticket=ticket).text == "\n".join([line] * 100)


def test_shows_much_in_as_many_queries_as_little(
    desk: Client,
    company: Company,
    ticket: Ticket,
    django_assert_num_queries: Callable[..., Any],
) -> None:
    shipment = build.shipment(company, 4101)
    build.webhook(company)
    publishing.publish([build.news(company, 4101, tracking_number=shipment.tracking_number)])
    page_html(desk, ticket)

    # Session, user, two for permissions; ticket; visit and other visitors; history, comments;
    # shipment, its tracking updates, other tickets and links to them, events, deliveries;
    # documents, requested ones, files, required documents; watchers; macros; reason codes; whether
    # there are webhooks; the company's other open tickets; the currency of its charges; the list
    # around it; pending answers, of the ticket and of the agent.
    with django_assert_num_queries(30):
        page_html(desk, ticket)

    for number in range(30):
        scan(shipment, number)
        build.ticket(company, shipment_id=4101, status=Status.ACCEPTED)
        Document.objects.create(ticket=ticket, position=number, field_id="a", value="b")
        request = RequestedDocument.objects.create(
            ticket=ticket, name=f"paper {number}", created_at=timezone.now()
        )
        build.file(company, ticket=ticket, requested_document=request)
        build.macro(f"macro {number}")
    Comment.objects.bulk_create(
        Comment(ticket=ticket, by="company", text=str(number), status=6, created_at=timezone.now())
        for number in range(500)
    )
    publishing.publish([build.news(company, 4101, tracking_number=shipment.tracking_number)] * 30)

    with django_assert_num_queries(30):
        page_html(desk, ticket)


def test_says_which_storm_a_ticket_belongs_to(desk: Client, ticket: Ticket) -> None:
    facts = {"carrier_name": "Fast", "hour": timezone.now(), "found": 40, "usual": 2.0}
    storm = Storm.objects.create(**facts, state=Storm.State.OPEN, title="Hub under water")
    storm.tickets.add(ticket)
    Storm.objects.create(**facts, state=Storm.State.DISMISSED, title="No news").tickets.add(ticket)

    html = desk.get(f"{LIST}{ticket.pk}/change/").content.decode()

    assert "Hub under water" in html
    assert "No news" not in html


@pytest.mark.parametrize(
    ("text", "html"),
    [
        (
            "See https://files.example.com/a?b=1&c=2.",
            'href="https://files.example.com/a?b=1&amp;c=2"',
        ),
        ("(https://files.example.com/a)", 'href="https://files.example.com/a"'),
        ("http://files.example.com/a", None),
        ("https://169.254.169.254/latest/", None),
        ("https://intranet/", None),
        ("javascript:alert(1)", None),
    ],
)
def test_public_addresses_in_messages_are_links(
    desk: Client, ticket: Ticket, text: str, html: str | None
) -> None:
    say(ticket, f"<b> {text}")

    thread = page_html(desk, ticket).split('id="thread"')[1].split('class="desk-composer"')[0]

    assert "&lt;b&gt;" in thread
    if html is None:
        assert "<a href" not in thread
    else:
        assert f'<a {html} rel="noopener noreferrer nofollow" target="_blank">' in thread


def test_of_very_many_addresses_only_so_many_are_links() -> None:
    assert linked("https://files.example.com/a " * 60).count("<a ") == 50


def test_surcharges_have_the_decimals_of_their_currency_or_more(
    desk: Client, company: Company
) -> None:
    ticket = build.ticket(company, shipment_id=build.shipment(company).pk)
    charges = ((48.5, "MXN"), (1200, "MXN"), (0.1234, "MXN"), (5800, "JPY"), (1.5, "KWD"))
    for number, (amount, currency) in enumerate(charges, start=1):
        build.fact(
            "surcharge",
            surcharge_id=number,
            shipment_id=4101,
            surcharge_type="Fuel",
            amount=amount,
            currency=currency,
            transaction_type="surcharge",
            reason="",
        )

    html = page_html(desk, ticket)

    for money_text in ("48.50 MXN", "1,200.00 MXN", "0.1234 MXN", "5,800 JPY", "1.500 KWD"):
        assert f"Fuel: {money_text}" in html
    page = desk.get("/admin/shipments/shipment/4101/change/").content.decode()
    for money_text in ("48.50 MXN", "1,200.00 MXN", "5,800 JPY", "1.500 KWD"):
        assert money_text in page
    assert "null" not in page.split('id="shipment_form"')[1].split("Incidences")[0]


def test_types_are_said_in_words(desk: Client, company: Company) -> None:
    ticket = build.ticket(company, type_id=6)

    assert "wrong address" in page_html(desk, ticket)
    assert "wrong_address" not in page_html(desk, ticket)
    assert "wrong address" in desk.get("/admin/tickets/ticket/?queue=open").content.decode()


@pytest.mark.parametrize("button", ["reply", "note"])
def test_the_same_text_from_two_tabs_is_asked_about(
    desk: Client, ticket: Ticket, button: str
) -> None:
    tabs = [{button: "1", "key": str(uuid4())} for _ in range(2)]
    assert write(desk, ticket, "Twice.", **tabs[0]).status_code == 302
    ticket.refresh_from_db()

    confirmation = write(desk, ticket, " Twice.\r\n", **tabs[1])
    assert confirmation.status_code == 409
    assert "You sent the same text" in confirmation.content.decode()
    assert ticket.conversation.count() == 1

    assert write(desk, ticket, "Twice.", **tabs[1], again="1").status_code == 302
    assert ticket.conversation.count() == 2


def test_the_same_text_a_minute_later_or_of_a_colleague_goes(desk: Client, ticket: Ticket) -> None:
    write(desk, ticket, "We look into it.")
    ticket.conversation.update(created_at=timezone.now() - answering.SAME_TEXT)
    ticket.refresh_from_db()
    assert write(desk, ticket, "We look into it.").status_code == 302

    working.write(ticket.pk, "Thanks.", user=build.agent("ben").user, public=True)
    ticket.refresh_from_db()
    assert write(desk, ticket, "Thanks.").status_code == 302


def test_a_page_whose_script_sent_its_form_is_told_where_to_go(
    desk: Client, ticket: Ticket
) -> None:
    answer = write(desk, ticket, "Hello.", headers={"Desk-Page": "1"})
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["Desk-Next"] == f"{LIST}{ticket.pk}/change/"
    assert "Location" not in answer.headers


def test_a_script_whose_session_has_ended_is_sent_to_sign_in(ticket: Ticket) -> None:
    answer = write(Client(), ticket, "Hello.", headers={"Desk-Page": "1"})
    assert answer.status_code == 302
    assert answer.headers["Location"].startswith("/admin/login/?")


def test_an_agent_s_page_has_no_traces_and_no_empty_boxes(desk: Client, company: Company) -> None:
    bare = build.ticket(company, status=Status.IN_REVIEW)
    with request_ids.request_scope("9148ef1b8df1"):
        updating.update_ticket(
            company, bare.pk, Actor(By.COMPANY, "tok_1"), to=Status.FOLLOW_UP, text="The label."
        )
    html = page_html(desk, bare)
    for words in ("tok_1", "9148ef1b8df1", "Claim file", "Show what was sent", "Related tickets"):
        assert words not in html, words

    lead = Client()
    lead.force_login(build.agent("eve", group="lead").user)
    html = page_html(lead, bare)
    assert "9148ef1b8df1" in html
    for title in ("Webhooks", "Missing events", "Storms"):
        assert title in side_bar(lead)
        assert title not in side_bar(desk)


def side_bar(client: Client) -> list[str]:
    groups = client.get(LIST).context["sidebar_navigation"]
    return [str(item["title"]) for group in groups for item in group["items"]]


def test_what_agents_need_seldom_is_found_by_its_name(desk: Client) -> None:
    offers = desk.get("/admin/palette/", {"as": "json", "q": "missing"}).json()["offers"]
    assert [one["link"] for one in offers][:1] == ["/admin/tickets/ticket/events/"]
