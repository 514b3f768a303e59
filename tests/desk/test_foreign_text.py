"""The desk isolates text from outside in `<bdi>` and shows control characters (N30)."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from companies.models import Company
from deliveries import publishing
from deliveries.engine import recording
from deliveries.models import Delivery, LoggedAttempt, State
from desk.common.controls import show_in_page
from desk.models import Storm
from shipments.models import Surcharge, TrackingUpdate
from tests import builders as build
from tests.deliveries.test_recording import claim_one, result
from tests.desk.test_claim_file import unpacked
from tickets.models import Comment, Document, FilingRule, HistoryEntry, Rating, Ticket
from tickets.statuses import Status
from webhooks.models import Webhook

EVIL = "evil\u202egnp"
CONTROL = "\u202e"
ESCAPED = "evil[U+202E]gnp"
# Elements without child elements: text in them is isolated already.
ALONE = {"option", "title", "textarea", "text", "script", "style"}


class Texts(HTMLParser):
    """Parser that collects planted texts outside of `<bdi>` and of elements in ALONE."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.beside: list[str] = []
        self.matches = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag not in {"br", "img", "input", "link", "meta", "hr", "line", "rect", "path"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while tag in self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if "evil" not in data:
            return
        self.matches += 1
        if not {"bdi", *ALONE} & set(self.open):
            self.beside.append(f"{'/'.join(self.open[-4:])}: {data.strip()[:80]}")


@pytest.fixture
def pages(company: Company) -> dict[str, int]:
    """Return pages with texts of companies, feed and receivers, and their least matches."""
    Company.objects.filter(pk=company.pk).update(name=EVIL)
    now = timezone.now()
    shipment = build.shipment(
        company, tracking_number=EVIL, carrier_name=EVIL, status=EVIL, order={"shop_id": EVIL}
    )
    TrackingUpdate.objects.create(
        shipment=shipment,
        digest=b"1",
        status=EVIL,
        status_description=EVIL,
        location=EVIL,
        occurred_at=now,
    )
    Surcharge.objects.create(
        surcharge_id=1,
        transaction_type="surcharge",
        shipment=shipment,
        surcharge_type=EVIL,
        reason=EVIL,
        amount=1,
        currency="MXN",
        created_at=now,
    )
    incidence = build.incidence(shipment, kind=EVIL, description=EVIL)
    ticket = build.ticket(
        company,
        type_id=10,
        status=Status.ACCEPTED,
        decided_at=now,
        comments=f"{EVIL} https://files.example.com/{EVIL}",
        data=f'{{"{EVIL}": "{EVIL}"}}',
        shipment_id=shipment.pk,
        carrier_name=EVIL,
        warehouse_package_id=EVIL,
    )
    raw = build.ticket(company, data=EVIL, carrier_name=EVIL)
    for value in (EVIL, f"https://files.example.com/{EVIL}"):
        Document.objects.create(
            ticket=ticket, position=0, field_id="a", key=EVIL, type="file", value=value
        )
    Comment.objects.create(ticket=ticket, by="company", text=EVIL, status=1, created_at=now)
    HistoryEntry.objects.create(
        ticket=ticket,
        by="company",
        was=1,
        now=5,
        kind="moved",
        reason=EVIL,
        data={"variables": {"added": {EVIL: EVIL}}, "requested": [EVIL]},
        created_at=now,
    )
    Rating.objects.create(ticket=ticket, rating=1, comment=EVIL, created_at=now)
    webhook = build.webhook(company, paused_reason=EVIL)
    body = f'{{"a":"{EVIL}"}}'.encode()
    news = build.news(company, shipment.pk, tracking_number=EVIL, body=body)
    publishing.publish([news])
    failed = result(claim_one(), state=State.GIVEN_UP, status=500, answer=EVIL.encode())
    recording.record_attempts([failed])
    LoggedAttempt.objects.update(detail=EVIL)
    Webhook.objects.update(active=False)
    storm = Storm.objects.create(carrier_name=EVIL, hour=now, found=9, usual=1, title=EVIL)
    storm.tickets.add(raw)
    FilingRule.objects.create(carrier_name=EVIL, type_id=4, days=3)
    delivery = Delivery.objects.get().pk
    return {
        "tickets/ticket/?queue=everything": 4,
        f"tickets/ticket/{ticket.pk}/change/": 22,
        f"tickets/ticket/{raw.pk}/change/": 3,
        f"tickets/ticket/move/3/?ticket={raw.pk}": 1,
        f"tickets/ticket/give/?ticket={raw.pk}": 1,
        f"tickets/ticket/events/?shipment_id={shipment.pk}": 3,
        "shipments/shipment/": 4,
        f"shipments/shipment/{shipment.pk}/change/": 11,
        "shipments/incidence/": 1,
        f"shipments/incidence/{incidence.pk}/change/": 2,
        "webhooks/webhook/": 2,
        f"webhooks/webhook/{webhook.pk}/change/": 5,
        "webhooks/webhook/sick/": 1,
        f"webhooks/webhook/pause/?webhook={webhook.pk}": 1,
        "deliveries/delivery/": 0,
        f"deliveries/delivery/{delivery}/change/": 5,
        "desk/storm/": 2,
        f"desk/storm/{storm.pk}/change/": 3,
        "companies/company/": 1,
        f"companies/company/{company.pk}/change/": 0,
        "tickets/filingrule/": 1,
        "": 3,
    }


def test_planted_text_is_isolated_on_every_page(operator: Client, pages: dict[str, int]) -> None:
    wrong: dict[str, list[str]] = {}
    for page, least in pages.items():
        answer = operator.get(f"/admin/{page}")
        html = answer.content.decode()
        assert answer.status_code == 200, page
        # Text in input fields and hidden fields stays as it was typed.
        read = re.sub(r"<textarea.*?</textarea>|(value|href|data-[a-z]+)=\"[^\"]*\"", "", html)
        texts = Texts(html)
        exposed_texts = [*texts.beside]
        if CONTROL in read:
            exposed_texts.append(f"obeyed: {read[max(0, read.index(CONTROL) - 80) :][:120]}")
        if texts.matches < least:
            exposed_texts.append(f"shown {texts.matches} times, not {least}")
        if exposed_texts:
            wrong[page] = exposed_texts
    assert wrong == {}


def test_the_evidence_shows_what_was_planted_too(operator: Client, pages: dict[str, int]) -> None:
    ticket = Ticket.objects.get(status=Status.ACCEPTED)
    files = unpacked(operator.post(f"/admin/tickets/ticket/{ticket.pk}/evidence/"))
    html = files["index.html"].decode()

    assert Texts(html).beside == []
    assert CONTROL not in html
    assert ESCAPED in html
    # The archived bodies keep the bytes that were sent.
    (body,) = [name for name in files if name.startswith("bodies/")]
    assert EVIL in files[body].decode()


def test_shows_controls_in_what_is_read_and_keeps_what_is_sent_back() -> None:
    html = (
        f'<p title="{EVIL}">{EVIL}</p><input value="{EVIL}"><a href="/{EVIL}">x</a>'
        f'<textarea placeholder="{EVIL}">{EVIL}</textarea><script>"{EVIL}"</script>{EVIL}'
    )

    assert show_in_page(html) == (
        f'<p title="{ESCAPED}">{ESCAPED}</p><input value="{EVIL}"><a href="/{EVIL}">x</a>'
        f'<textarea placeholder="{ESCAPED}">{EVIL}</textarea><script>"{EVIL}"</script>{ESCAPED}'
    )


def test_shows_every_control_by_its_number(desk: Client, company: Company) -> None:
    controls = "\u061c\u200e\u200f\u202a\u202d\u2066\u2069"
    ticket = build.ticket(company, comments=f"a{'-'.join(controls)}b")

    html = desk.get(f"/admin/tickets/ticket/{ticket.pk}/change/").content.decode()

    shown = "-".join(f"[U+{ord(control):04X}]" for control in controls)
    assert f"<bdi>a{shown}b</bdi>" in html
