"""The viewer of files: by keyboard through images and the pages of PDFs."""

import hashlib

import pytest
from django.test import Client
from pytest_django.live_server_helper import LiveServer

from companies.models import Company
from core.files import storage
from tests import builders as build
from tests import files
from tests.browser.chromium import Chromium
from tickets.models import Agent

LIST = "/admin/tickets/ticket/"
PHONE = {"width": 390, "height": 844}
FITS = "document.documentElement.scrollWidth <= 390"
LIES = "(canvas => canvas.width > canvas.height)(document.getElementById('viewer-canvas'))"


@pytest.fixture
def ada(live_server: LiveServer) -> Agent:
    return build.agent("ada")


@pytest.mark.slow
def test_files_are_leafed_through_and_turned_by_keys(
    chromium: Chromium, live_server: LiveServer, desk: Client, company: Company
) -> None:
    ticket = build.ticket(company)
    for name, content, media_type in (
        ("photo.jpg", files.picture("JPEG", (60, 40)), "image/jpeg"),
        ("invoice.pdf", files.pdf(2), "application/pdf"),
    ):
        build.file(
            company,
            ticket=ticket,
            name=name,
            media_type=media_type,
            sha256=hashlib.sha256(content).hexdigest(),
            stored_as=storage.write_file(storage.new_file_name(), content),
        )
    with chromium.tab(live_server.url, viewport=PHONE) as tab:
        tab.sign_in(desk)
        tab.visit(f"{LIST}{ticket.pk}/change/")
        tab.do(lambda page: page.locator("a[data-view]").first.click())
        tab.sees("#viewer-name", "photo.jpg")
        tab.wait_for("document.querySelector('canvas').width > 50")
        tab.wait_for(LIES)
        assert tab.do(lambda page: page.evaluate(FITS))

        tab.press("r")
        tab.wait_for(f"!{LIES}")
        assert tab.do(lambda page: page.evaluate(FITS))

        tab.press("ArrowRight")
        tab.sees("#viewer-place", "page 1 of 2")
        tab.press("ArrowRight")
        tab.sees("#viewer-place", "page 2 of 2")
        tab.press("ArrowRight")
        tab.sees("#viewer-name", "photo.jpg")
        tab.press("Escape")
        tab.misses("#viewer[open]")
        assert tab.complaints == []
