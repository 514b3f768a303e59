"""Every page of a desk in the middle of its day: what it says in Spanish, and how it is built."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import time
from pathlib import Path

import django
import polib
import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.utils import translation
from pytest_django import Settings

from companies.models import Company
from core.models import Mail
from desk.claim_file.contents import delivery_columns, pdf_contents, read_claim, scan_columns
from desk.models import Macro
from desk.queue.export import export_columns
from tests import builders as build
from tests.browser.world import DAY, World
from tests.desk.crawling import Page, crawl
from tickets import working
from tickets.models import Calendar, RequestedDocument, TicketType
from tickets.statuses import Status
from tools.dev import translations
from webhooks.event_types import registry

pytestmark = pytest.mark.django_db

WORD = re.compile(r"[^\W\d_]{2,}")
PLACE = re.compile(r"%\(\w+\)[sd]|{\w*}|</?\w[^>]*>")
ISO_DAY = re.compile(r"\b20\d\d-\d\d-\d\d")
# As `d M` is written in English; Spanish months have no capital.
SHORT_MONTH = re.compile(r"\b\d\d? (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b")
# Names for programs: ids, headers, events, files, and what is written in braces.
FOR_PROGRAMS = re.compile(
    r"[0-9a-f]{8}-[0-9a-f-]{27}|X-[\w-]+|\w+[._]\w[\w.]*|{\w+}|\w*\d\w*|[A-Z]\w+(?:/[\w-]+)+|\S*\*{3}\S*"
)
# Django names permissions in English, for superusers alone who make groups of them.
PERMISSION = re.compile(r"\| Can |\bCan (?:add|change|delete|view) ")
# Languages are named in themselves.
NAMES = {"English", "parceldesk"}


@pytest.fixture
def english() -> set[str]:
    """The words that only the English sentences of the desk and of Django have."""
    django_s = Path(django.__file__).parent.glob("**/locale/es/LC_MESSAGES/django.po")
    ours, theirs = set(), set()
    for path in [*django_s, translations.LOCALE / "es/LC_MESSAGES/django.po"]:
        for entry in polib.pofile(str(path)):
            ours |= words(f"{entry.msgid} {entry.msgid_plural}")
            for said in (entry.msgstr, *entry.msgstr_plural.values()):
                theirs |= words(said)
    return ours - theirs


def words(text: str) -> set[str]:
    return {word.lower() for word in WORD.findall(PLACE.sub(" ", text))}


@pytest.fixture
def pages(settings: Settings) -> dict[str, Page]:
    """All that a superuser, who also works tickets, may open; the deployment is Mexican."""
    settings.DESK_LANGUAGE, settings.DESK_TIME_ZONE = "es", "America/Mexico_City"
    with translation.override("es"):
        world = World()
    # Named by people, and by nobody of the desk.
    for name, macro in zip("ABC", Macro.objects.all(), strict=True):
        Macro.objects.filter(pk=macro.pk).update(name=f"Macro {name}", requested="Factura")
    Calendar.objects.exclude(name="Working week").update(name="Siempre")
    RequestedDocument.objects.update(name="Factura")
    rosa = build.agent("rosa")
    User.objects.filter(pk=rosa.user_id).update(is_superuser=True)
    rosa.shifts.create(weekday=0, starts=time(9), ends=time(18))
    rosa.absences.create(starts_at=world.now, ends_at=world.now + DAY)
    Calendar.objects.all()[0].holidays.create(day=world.now.date(), name="Feriado")
    client = Client()
    client.force_login(rosa.user)
    # As Django keeps a change: with the English labels of the fields, whatever language it was in.
    for row, field in (
        (world.claim.company, "Contact email"),
        (Macro.objects.all()[0], "Move to"),
        (rosa, "Available"),
    ):
        LogEntry.objects.log_actions(
            rosa.user_id, [row], CHANGE, [{"changed": {"fields": [field]}}], single_object=True
        )
    ticket = f"/admin/tickets/ticket/{world.claim.pk}/"
    found = crawl(client, f"{ticket}change/", f"{ticket}hand-over/")
    found["/admin/nothing/"] = Page(client.get("/admin/nothing/").content.decode())
    for address in ("/admin/login/", "/admin/password-reset/"):
        found[f"{address}, a stranger"] = Page(Client().get(address).content.decode())
    found["signed out"] = Page(client.post("/admin/logout/").content.decode())
    return found


def english_of(page: Page, only_english: set[str], types: Iterable[str]) -> Iterator[str]:
    codes = {kind.name for kind in registry} | set(types)
    for text in page.texts:
        if text in NAMES | codes or PERMISSION.search(text):
            continue
        plain = FOR_PROGRAMS.sub(" ", text)
        if words(plain) & only_english or ISO_DAY.search(text) or SHORT_MONTH.search(text):
            yield text


def broken(page: Page) -> bool:
    """Tell if it lacks its landmark or heading, names an id twice or labels nothing."""
    tags = Counter(page.tags)
    twice = any(count > 1 for count in Counter(page.ids).values())
    return twice or not {*page.labels} <= {*page.ids} or (tags["main"], tags["h1"]) != (1, 1)


def test_each_page_is_whole_and_says_no_english_word_in_spanish(
    pages: dict[str, Page], english: set[str]
) -> None:
    """One test, since the pages take longer than all that is looked for in them."""
    types = TicketType.objects.values_list("name", flat=True)
    found = {address: list(english_of(page, english, types)) for address, page in pages.items()}

    assert len(pages) > 90
    assert {address: texts for address, texts in found.items() if texts} == {}
    assert [address for address, page in pages.items() if broken(page)] == []


def test_files_and_letters_say_no_english_word_in_spanish(
    company: Company, english: set[str]
) -> None:
    company.language, company.contact_email = "es", "dev@acme.example"
    company.save()
    eve = build.agent("eve", group="lead").user
    shipment = build.shipment(company, tracking_number="770012345", carrier_name="redpack")
    ticket = build.ticket(
        company, type_id=4, shipment_id=shipment.pk, status=Status.IN_REVIEW, comments="Roto."
    )
    working.move(ticket.pk, Status.INCOMPLETE, user=eve, reason="Falta.", requested=["Factura"])
    ticket.refresh_from_db()
    letter = Mail.objects.get()
    # Below are calls for programs.
    told, *calls = re.split(r"Para .*? por API", letter.text)

    with translation.override("es"):
        claim = pdf_contents(read_claim(ticket), "es")
        tables = [part for part in claim["sections"] if "columns" in part]
        texts = [letter.subject, *told.splitlines(), *export_columns(), claim["title"]]
        texts += [*scan_columns(), *delivery_columns(), *(one["title"] for one in tables)]
        texts += [text for fact in claim["facts"] for text in fact]

    assert calls
    assert len(texts) > 50
    plain = [FOR_PROGRAMS.sub(" ", text) for text in texts]
    assert [text for text in plain if words(text.replace(company.name, "")) & english] == []
