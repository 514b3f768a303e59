"""Every page of a desk in the middle of its day is well-formed, and has no English in Spanish."""

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
# Months of the format `d M` in English; Spanish ones have no capital.
SHORT_MONTH = re.compile(r"\b\d\d? (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b")
# Names for programs: ids, headers, events, files, and placeholders in braces.
FOR_PROGRAMS = re.compile(
    r"[0-9a-f]{8}-[0-9a-f-]{27}|X-[\w-]+|\w+[._]\w[\w.]*|{\w+}|\w*\d\w*|[A-Z]\w+(?:/[\w-]+)+|\S*\*{3}\S*"
)
# Django's permission names are English; only superusers, who create groups, see them.
PERMISSION = re.compile(r"\| Can |\bCan (?:add|change|delete|view) ")
# Languages are listed by their own names.
# The last is the badge of the environment.
NAMES = {"English", "parceldesk", "test"}


@pytest.fixture
def english() -> set[str]:
    """Return words that occur only in English sentences of the desk and of Django."""
    django_s = Path(django.__file__).parent.glob("**/locale/es/LC_MESSAGES/django.po")
    ours, theirs = set(), set()
    for path in [*django_s, translations.LOCALE / "es/LC_MESSAGES/django.po"]:
        for entry in polib.pofile(str(path)):
            ours |= words(f"{entry.msgid} {entry.msgid_plural}")
            for rendering in (entry.msgstr, *entry.msgstr_plural.values()):
                theirs |= words(rendering)
    return ours - theirs


def words(text: str) -> set[str]:
    return {word.lower() for word in WORD.findall(PLACE.sub(" ", text))}


@pytest.fixture
def pages(settings: Settings) -> dict[str, Page]:
    """Return all pages of a superuser who works tickets, in a Mexican deployment."""
    settings.DESK_LANGUAGE, settings.DESK_TIME_ZONE = "es", "America/Mexico_City"
    with translation.override("es"):
        world = World()
    # Replace texts that people have entered, which the desk does not translate.
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
    # Django logs a change with the English labels of its fields, whatever the language.
    for row, field in (
        (world.claim.company, "Contact email"),
        (Macro.objects.all()[0], "Move to"),
        (rosa, "Available"),
    ):
        LogEntry.objects.log_actions(
            rosa.user_id, [row], CHANGE, [{"changed": {"fields": [field]}}], single_object=True
        )
    ticket = f"/admin/tickets/ticket/{world.claim.pk}/"
    crawled_pages = crawl(client, f"{ticket}change/", f"{ticket}hand-over/")
    crawled_pages["/admin/nothing/"] = Page(client.get("/admin/nothing/").content.decode())
    for address in ("/admin/login/", "/admin/password-reset/"):
        crawled_pages[f"{address}, a stranger"] = Page(Client().get(address).content.decode())
    crawled_pages["signed out"] = Page(client.post("/admin/logout/").content.decode())
    return crawled_pages


def english_of(page: Page, only_english: set[str], types: Iterable[str]) -> Iterator[str]:
    codes = {kind.name for kind in registry} | set(types)
    for text in page.texts:
        if text in NAMES | codes or PERMISSION.search(text):
            continue
        plain = FOR_PROGRAMS.sub(" ", text)
        if words(plain) & only_english or ISO_DAY.search(text) or SHORT_MONTH.search(text):
            yield text


def broken(page: Page) -> bool:
    """Return True if the page lacks a landmark or heading, repeats an id or has stray labels."""
    tags = Counter(page.tags)
    twice = any(count > 1 for count in Counter(page.ids).values())
    return twice or not {*page.labels} <= {*page.ids} or (tags["main"], tags["h1"]) != (1, 1)


def test_each_page_is_whole_and_says_no_english_word_in_spanish(
    pages: dict[str, Page], english: set[str]
) -> None:
    """Check all in one test, since loading the pages takes longer than the checks."""
    types = TicketType.objects.values_list("name", flat=True)
    english_words = {
        address: list(english_of(page, english, types)) for address, page in pages.items()
    }

    assert len(pages) > 90
    assert {address: texts for address, texts in english_words.items() if texts} == {}
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
    # One link is for people, the other leads to the guide for programs.
    told, links = re.subn(r"http://\S+", "", str(letter.secret_text))

    with translation.override("es"):
        claim = pdf_contents(read_claim(ticket), "es")
        tables = [part for part in claim["sections"] if "columns" in part]
        texts = [letter.subject, *told.splitlines(), *export_columns(), claim["title"]]
        texts += [*scan_columns(), *delivery_columns(), *(one["title"] for one in tables)]
        texts += [text for fact in claim["facts"] for text in fact]

    assert links == 2
    assert len(texts) > 50
    plain = [FOR_PROGRAMS.sub(" ", text) for text in texts]
    assert [text for text in plain if words(text.replace(company.name, "")) & english] == []
