"""A ticket's page on a phone: from the link of an email to an answer with a photo, and live."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Response
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from companies.models import Company
from companies.tokens import token_digest
from portal import access
from tests import builders as build
from tests import files
from tests.browser.chromium import Chromium, Tab
from tests.waiting import wait_until
from tickets import working
from tickets.models import Agent, Ticket
from tickets.statuses import Status

PHONE = {
    "viewport": {"width": 390, "height": 844},
    "is_mobile": True,
    "has_touch": True,
    "locale": "es-MX",
}
WIDTH = "[document.documentElement.scrollWidth, innerWidth]"
# Controls that are smaller than a finger.
TO_BOTTOM = """document.querySelector('[data-most]').hidden = true;
  document.querySelector('form[action$=answer] button').scrollIntoView({block: 'end'})"""
ALERT_BOTTOM = "document.querySelector('[data-most]').getBoundingClientRect().bottom"
BROKEN = """[...document.querySelectorAll("button, .button")]
  .filter(one => one.clientHeight > 60 && !one.innerText.includes(" ")).map(one => one.innerText)"""
SMALL = """[...document.querySelectorAll("button, .button, textarea, .choice, .file a"),
  ...document.querySelectorAll("input:not([type=hidden], [type=radio])")]
  .filter(one => one.getBoundingClientRect().height < 44).map(one => one.outerHTML)"""


@pytest.fixture
def company(live_server: LiveServer, settings: Settings) -> Company:
    settings.PUBLIC_URL = live_server.url
    return build.company("Café Altura", language="es", time_zone="America/Mexico_City")


@pytest.fixture
def eve(company: Company) -> Agent:
    return build.agent("eve", group="lead", available=False)


@pytest.fixture
def ticket(company: Company, eve: Agent) -> Ticket:
    shipment = build.shipment(company, tracking_number="W" * 50, carrier_name="redpack")
    ticket = build.ticket(
        company, type_id=5, shipment_id=shipment.pk, status=Status.IN_REVIEW, comments="x" * 300
    )
    reason = "Necesitamos ver la caja."
    working.move(
        ticket.pk, Status.INCOMPLETE, user=eve.user, reason=reason, requested=["Foto de la caja"]
    )
    return ticket


@pytest.fixture
def phone(chromium: Chromium, live_server: LiveServer) -> Iterator[Tab]:
    with chromium.tab(live_server.url, **PHONE) as opened:
        yield opened
    assert opened.complaints == []


@pytest.fixture
def caja(tmp_path: Path) -> Path:
    path = tmp_path / "caja.jpg"
    path.write_bytes(files.photo())
    return path


def tap(tab: Tab, selector: str) -> None:
    tab.do(lambda page: page.locator(selector).first.tap())


def check_fit(tab: Tab) -> None:
    assert tab.do(lambda page: page.evaluate(WIDTH)) == [390, 390]
    assert tab.do(lambda page: page.evaluate(SMALL)) == []
    assert tab.do(lambda page: page.evaluate(BROKEN)) == []


def test_a_photo_answers_the_email_in_one_form(phone: Tab, ticket: Ticket, caja: Path) -> None:
    phone.visit(access.link_to(ticket))
    phone.sees("#box", "Nos falta información suya")
    assert phone.url.endswith(f"/c/tickets/{ticket.pk}")
    check_fit(phone)
    assert phone.violations() == []

    phone.do(lambda page: page.locator("form [type=file]").first.set_input_files(caja))
    phone.do(lambda page: page.locator("#text").fill("Así llegó."))
    tap(phone, "form[action$=answer] button")

    phone.sees("#head [role=status]", f"El ticket {ticket.pk} está de nuevo con nosotros.")
    phone.sees("#conversation .own", "caja.jpg")
    assert phone.value("#text") == ""
    check_fit(phone)
    assert Ticket.objects.get().status == Status.FOLLOW_UP


@pytest.mark.slow
def test_a_typed_text_survives_a_reload_and_news(phone: Tab, ticket: Ticket, eve: Agent) -> None:
    phone.visit(access.link_to(ticket))
    phone.do(lambda page: page.locator("#text").fill("Le escribo que"))
    phone.reload()
    phone.sees("#text")
    assert phone.value("#text") == "Le escribo que"

    working.write(ticket.pk, "¿Y la factura?", user=eve.user, public=True)
    phone.sees("#conversation li", "¿Y la factura?")
    phone.sees("#news", "Esta página acaba de cambiar.")
    assert phone.value("#text") == "Le escribo que"

    tap(phone, "form[action$=answer] button")
    phone.sees("#head [role=status]", "Su respuesta se envió.")
    phone.reload()
    phone.sees("#text")
    assert phone.value("#text") == ""
    # The page of the form that was sent, with what is new.
    phone.do(lambda page: page.go_back())
    phone.sees("#conversation .own", "Le escribo que")
    assert phone.value("#text") == ""


@pytest.mark.slow
def test_list_and_new_ticket_fit_a_phone(phone: Tab, company: Company, ticket: Ticket) -> None:
    token = company.tokens.create(prefix="test_page", digest=token_digest("page"))
    parts = {"tickets": True, "webhooks": True, "ticket_id": None, "return_url": ""}
    secret, _ = access.issue_session(company, token, language="es", **parts)
    phone.visit(f"/c/s/{secret}")
    for address in ("", "?q=caja", "/new", "/new/5"):
        assert phone.visit(f"/c/tickets{address}") == 200
        check_fit(phone)
        assert phone.violations() == []


@pytest.mark.slow
def test_a_decision_appears_with_its_forms(phone: Tab, ticket: Ticket, eve: Agent) -> None:
    phone.visit(access.link_to(ticket))
    phone.sees("form[action$=answer]")

    working.move(ticket.pk, Status.DECLINED, user=eve.user, reason="No está dañado.")

    phone.sees("#box", "El ticket fue rechazado")
    phone.misses("form[action$=answer]")
    check_fit(phone)
    assert phone.violations() == []
    phone.theme("dark")
    assert phone.violations() == []
    phone.do(lambda page: page.locator("form[action$=appeal] textarea").fill("Sí lo está."))
    tap(phone, "form[action$=appeal] button")
    phone.sees("#head [role=status]", "Su apelación se envió.")
    tap(phone, ".choice:has-text('4 estrellas')")
    tap(phone, "form[action$=rating] button")
    phone.sees("#head [role=status]", "Gracias.")
    assert Ticket.objects.get().rating.rating == 4


@pytest.mark.slow
def test_a_closed_door_is_asked_no_more(phone: Tab, ticket: Ticket) -> None:
    phone.visit(access.link_to(ticket))
    phone.sees("#box")
    phone.expects("403")
    closed: list[str] = []

    def note(answer: Response) -> None:
        # The browser asks for the icon too, when it likes.
        if answer.status == 403:
            closed.append(answer.url)

    phone.do(lambda page: page.on("response", note))
    access.end_links(access.TicketLink.objects.all())

    wait_until(lambda: phone.do(lambda page: page.wait_for_timeout(200)) or closed, "the refusal")
    phone.do(lambda page: page.wait_for_timeout(7_000))
    assert len(closed) == 1


def test_files_that_are_too_large_together_stay_in_the_form(
    phone: Tab, ticket: Ticket, tmp_path: Path
) -> None:
    large = [tmp_path / f"{number}.jpg" for number in range(2)]
    for path in large:
        path.write_bytes(bytes(8 * 2**20))
    phone.visit(access.link_to(ticket))
    phone.do(lambda page: page.locator("#files").set_input_files(large))

    tap(phone, "form[action$=answer] button")

    phone.sees("form [role=alert]", "demasiado")
    large[0].write_bytes(bytes(11 * 2**20))
    phone.do(lambda page: page.locator("#files").set_input_files(large[:1]))
    # The button is the last of the screen.
    phone.do(lambda page: page.evaluate(TO_BOTTOM))
    tap(phone, "form[action$=answer] button")
    phone.sees("form [role=alert]", "captura de pantalla")
    assert phone.do(lambda page: page.evaluate(ALERT_BOTTOM)) <= PHONE["viewport"]["height"]
    phone.do(lambda page: page.locator("#files").set_input_files([]))
    phone.do(lambda page: page.locator("#text").fill("Luego las envío."))
    tap(phone, "form[action$=answer] button")
    phone.sees("#head [role=status]", "Su respuesta se envió.")
