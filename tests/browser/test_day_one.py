"""The small tools of every ticket: copy the parcel's number, paste pictures, snooze."""

from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django.live_server_helper import LiveServer

from companies.models import Company
from tests import builders as build
from tests import files
from tests.browser.chromium import Tab
from tickets import updating
from tickets.changes.actors import Actor
from tickets.models import Agent, Snooze, Ticket, TicketFile
from tickets.statuses import By, Status

LIST = "/admin/tickets/ticket/"
READ = "() => navigator.clipboard.readText()"
PLAIN = "() => Object.defineProperty(navigator, 'clipboard', {value: undefined})"
LISTEN = """() => document.addEventListener('copy',
  () => { window.copied = String(document.activeElement.value); })"""


@pytest.fixture
def ada(live_server: LiveServer) -> Agent:
    return build.agent("ada", available=False)


@pytest.fixture
def ticket(live_server: LiveServer, company: Company, ada: Agent) -> Ticket:
    shipment = build.shipment(company, carrier_name="ups", tracking_number="1Z 99")
    return build.ticket(company, agent=ada, status=Status.IN_REVIEW, shipment_id=shipment.pk)


@pytest.fixture
def page(tab: Tab, desk: Client, ticket: Ticket) -> Tab:
    tab.sign_in(desk)
    tab.visit(f"{LIST}{ticket.pk}/change/?list=queue%3Dmine")
    tab.sees("#ticket")
    return tab


@pytest.mark.slow
def test_the_number_is_copied_by_a_key(page: Tab) -> None:
    page.do(lambda tab: tab.context.grant_permissions(["clipboard-read", "clipboard-write"]))
    page.press("c")
    page.sees(".desk-head [data-copy]", "Copied")
    assert page.do(lambda tab: tab.evaluate(READ)) == "1Z 99"
    page.press("c")
    page.sees(".desk-head [data-copy]", "Copy")


@pytest.mark.slow
def test_without_a_clipboard_it_is_copied_too(page: Tab) -> None:
    page.do(lambda tab: [tab.evaluate(PLAIN), tab.evaluate(LISTEN)])
    page.do(lambda tab: tab.click(".desk-head [data-copy]"))
    page.sees(".desk-head [data-copy]", "Copied")
    assert page.do(lambda tab: tab.evaluate("() => window.copied")) == "1Z 99"
    page.focused(".desk-head [data-copy]")


# Files as they arrive from the clipboard or by drag and drop.
BRING = """([kind, files, text]) => {
  const data = new DataTransfer();
  for (const [name, type, bytes, size] of files) {
    const known = atob(bytes), length = size || known.length;
    const content = Uint8Array.from({ length }, (_, place) => known.charCodeAt(place));
    data.items.add(new File([content], name, { type }));
  }
  if (text) data.setData("text/plain", text);
  const more = kind === "paste" ? { clipboardData: data } : { dataTransfer: data };
  const Kind = kind === "paste" ? ClipboardEvent : DragEvent;
  const event = new Kind(kind, { bubbles: true, cancelable: true, ...more });
  document.getElementById(kind === "paste" ? "text" : "thread").dispatchEvent(event);
  return event.defaultPrevented;
}"""
PNG = b64encode(files.picture()).decode()
PHOTO = ("image.png", "image/png", PNG, 0)
PDF = ("invoice.pdf", "application/pdf", b64encode(files.pdf()).decode(), 0)
CHOSEN = "() => [...document.getElementById('files').files].map((one) => one.name)"


@pytest.fixture(autouse=True)
def own_storage(settings: Any, tmp_path: Path) -> None:
    settings.FILES_DIR = tmp_path


def bring(page: Tab, kind: str, *those: tuple[str, str, str, int], text: str = "") -> bool:
    return page.do(lambda tab: tab.evaluate(BRING, [kind, those, text]))


def chosen(page: Tab) -> list[str]:
    return page.do(lambda tab: tab.evaluate(CHOSEN))


def stored(ticket: Ticket) -> list[str]:
    return list(
        TicketFile.objects.filter(ticket=ticket).order_by("pk").values_list("name", flat=True)
    )


@pytest.mark.slow
def test_pictures_are_pasted_and_dropped_and_go_with_the_reply(page: Tab, ticket: Ticket) -> None:
    page.press("r")
    page.type("As you asked.")
    assert bring(page, "paste", PHOTO)
    assert bring(page, "paste", PHOTO)
    assert bring(page, "drop", PDF)
    page.sees("#picked li canvas")
    page.sees("#picked li:nth-child(3)", "invoice.pdf")
    assert chosen(page) == ["image-1.png", "image-2.png", "invoice.pdf"]

    page.do(lambda tab: tab.click("#picked li:nth-child(2) button"))
    assert chosen(page) == ["image-1.png", "invoice.pdf"]
    page.focused("#picked li:nth-child(2) button")
    page.do(lambda tab: tab.focus("#text"))
    page.leave_by("Control+Enter")
    page.sees(".desk-agent .desk-text", "As you asked.")
    assert stored(ticket) == ["image-1.png", "invoice.pdf"]
    assert chosen(page) == []
    page.reload()
    page.sees("#ticket")
    assert page.do(lambda tab: tab.inner_text("#files-refused")) == ""


@pytest.mark.slow
def test_invalid_files_are_refused_before_sending(page: Tab) -> None:
    big = ("big.jpg", "image/jpeg", "", 10 * 1024 * 1024 + 1)
    bring(page, "drop", PHOTO, ("setup.exe", "application/x-msdownload", PNG, 0), big)
    refusals = page.sees("#files-refused", "setup.exe: Pictures (JPEG, PNG, WebP) and PDF only.")
    assert "big.jpg: At most 10.0" in refusals
    assert chosen(page) == ["image.png"]

    bring(page, "drop", *[(f"{n}.png", "image/png", PNG, 0) for n in range(5)])
    page.sees("#files-refused", "4.png: Attach at most 5 files at a time.")
    assert chosen(page) == ["image.png", "0.png", "1.png", "2.png", "3.png"]


@pytest.mark.slow
def test_files_together_are_bounded_by_the_size_of_a_form(page: Tab) -> None:
    half = [(f"{n}.jpg", "image/jpeg", "", 8 * 1024 * 1024) for n in range(2)]
    bring(page, "drop", *half)
    page.sees("#files-refused", "1.jpg: Too much at a time")
    assert chosen(page) == ["0.jpg"]


@pytest.mark.slow
def test_words_that_come_with_a_picture_are_pasted_as_words(page: Tab) -> None:
    assert not bring(page, "paste", PHOTO, text="A1\tB1")
    assert chosen(page) == []


@pytest.mark.slow
def test_files_are_kept_when_a_reply_is_held_back(page: Tab, ticket: Ticket) -> None:
    """Keep text and files for the next try when the company writes meanwhile."""
    page.press("r")
    page.type("Look at this.")
    bring(page, "paste", PHOTO)
    updating.comment(ticket.company, ticket.pk, Actor(By.COMPANY, "live_1"), "One more thing.")
    page.press("Control+Enter")
    page.sees(".desk-refusal", "One more thing.")
    page.refused()
    page.sees("#picked li", "image-1.png")
    assert chosen(page) == ["image-1.png"]
    page.do(lambda tab: tab.focus("#text"))
    page.leave_by("Control+Enter")
    page.sees(".desk-agent .desk-text", "Look at this.")
    assert stored(ticket) == ["image-1.png"]


@pytest.mark.slow
def test_after_a_reload_it_says_that_files_are_not_kept(page: Tab) -> None:
    page.press("r")
    page.type("Half a sentence")
    page.sees("#draft-hint", "Draft kept.")
    bring(page, "drop", PDF)
    page.reload()
    page.sees("#files-refused", "Your files were not kept. Add them again: invoice.pdf")
    assert page.value("#text") == "Half a sentence"
    page.reload()
    page.sees("#ticket")
    assert page.do(lambda tab: tab.inner_text("#files-refused")) == ""


@pytest.mark.slow
def test_a_ticket_is_snoozed_and_brought_back_by_keys(page: Tab, ticket: Ticket) -> None:
    page.press("s")
    page.focused(".desk-snooze button")
    page.leave_by("Enter")
    page.sees("#snooze .desk-tag", "Snoozed until")
    assert Snooze.objects.filter(ticket=ticket).exists()
    page.visit(f"{LIST}?queue=mine")
    page.sees(".desk-empty")
    page.visit(f"{LIST}{ticket.pk}/change/")
    page.sees("#snooze .desk-tag")
    page.leave_by("s")
    page.sees(".desk-snooze summary", "Snooze")
    assert not Snooze.objects.exists()


@pytest.mark.slow
def test_tools_have_no_accessibility_violations(page: Tab) -> None:
    page.press("s")
    page.focused(".desk-snooze button")
    bring(page, "drop", PHOTO, ("setup.exe", "application/x-msdownload", PNG, 0))
    page.sees("#picked li canvas")
    page.sees("#files-refused", "setup.exe")
    assert page.violations() == []
