"""A shift at the desk in Spanish, by keyboard alone: no test here uses a mouse."""

from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from companies.models import Company
from desk.models import Preferences
from tests import builders as build
from tests.browser.chromium import Chromium
from tests.browser.test_shift import LIST, Call, calls, comments, log_in
from tickets.models import Agent, Ticket
from tickets.statuses import Status

__all__ = ["calls"]

MEXICO = "America/Mexico_City"


@pytest.fixture
def company() -> Company:
    return build.company("Librería Andén", language="es")


@pytest.fixture
def ada(live_server: LiveServer) -> Agent:
    agent = build.agent("ada", available=False)
    Preferences.objects.create(user=agent.user, language="es", time_zone=MEXICO)
    return agent


@pytest.mark.slow
def test_a_shift_in_spanish_by_keyboard(
    chromium: Chromium,
    live_server: LiveServer,
    settings: Settings,
    calls: Call,
    company: Company,
    ada: Agent,
) -> None:
    settings.DESK_LANGUAGE = "es"
    build.agent("maría.gonzález", available=False)
    build.shipment(company, 4101, carrier_name="redpack")
    build.macro(
        "Pedir comprobantes",
        text="Hola, {company}:\n\nnecesitamos más datos de {tracking}.",
        move_to=Status.INCOMPLETE,
        requested="Factura\nFoto del daño",
        language="es",
    )
    build.macro("Ask for papers", text="Hello {company},", language="en")
    claim = {"type_id": 4, "shipment_id": 4101, "comments": "El paquete nunca llegó."}
    number = calls("POST", "/company/tickets", **claim)["id"]
    opened = Ticket.objects.get(pk=number).created_at.astimezone(ZoneInfo(MEXICO))

    with chromium.tab(live_server.url) as tab:
        tab.visit("/admin/login/")
        tab.sees("html[lang=es] body", "Contraseña")
        log_in(tab)

        # Snooze the next ticket until a time of the clock on her wall.
        tab.visit(LIST)
        tab.sees("#desk-take", "Tomar el siguiente")
        tab.leave_by("t")
        assert tab.ticket == number
        tab.sees("html[lang=es] .desk-company", "El paquete nunca llegó.")
        tab.sees("#thread", f"{opened:%d/%m/%Y %H:%M}")

        # Write a note, name a colleague without the accents, request papers by a macro in Spanish.
        tab.press("n")
        tab.focused("#text")
        tab.sees("#aim-hint", "Nota: Ctrl+Enter")
        tab.type("Tercera vez esta semana, @mar")
        tab.sees(".desk-names [aria-selected=true]", "maría.gonzález")
        tab.press("Enter")
        tab.leave_by("Control+Enter")
        tab.sees(".desk-note .desk-mention", "@maría.gonzález")

        tab.press("m")
        tab.focused("#macro")
        assert "Ask for papers" not in tab.sees("#macro")
        tab.type("Pedir")
        tab.press("Enter")
        tab.focused("#text")
        assert tab.value("#text").startswith("Hola, Librería Andén:")
        tab.sees("#asks", "Factura")
        tab.leave_by("Control+Enter")
        tab.sees(".desk-head .desk-pill", "Incompleto")
        tab.sees(".desk-left", "En espera de la empresa.")

        # The company answers while the page is open.
        answer = {"ticket_status_id": 5, "comments": "Aquí están: https://a.example/factura.pdf"}
        calls("PUT", f"/company/tickets/{number}", **answer)
        tab.sees(".desk-company", "Aquí están")
        tab.sees(".desk-head .desk-pill", "Seguimiento")

        late = timezone.now() - timedelta(days=1)
        others = [
            build.ticket(company, agent=ada, status=Status.IN_REVIEW, due_at=late, comments=words)
            for words in ("La caja llegó aplastada.", "Otra caja.", "Falta un artículo.")
        ]
        # Leave, and come back by the ticket's subject, typed without accents.
        tab.press("Control+k")
        tab.focused("#palette-text")
        tab.type("vencidos")
        tab.sees("#palette-list [aria-selected=true]", "Vencidos")
        tab.leave_by("Enter")
        tab.sees("#result_list tr.data-row", f"#{others[0].pk}")

        # Decline two together.
        tab.press("x", "x")
        tab.leave_by("d")
        tab.focused("[data-codes] input")
        tab.type("dEl transportista presenta una firma.")
        tab.leave_by("Control+Enter")
        tab.sees("body", "2 tickets pasaron a Rechazado.")
        assert tab.url.endswith("queue=overdue")

        tab.press("Control+k")
        tab.focused("#palette-text")
        tab.type("TEST0004101")
        tab.leave_by("Enter")
        assert tab.ticket == number

        tab.sees("#ticket")
        tab.press("a")
        tab.focused("#move-accepted [data-codes] input")
        tab.type("aGracias. Le devolvemos el dinero.")
        tab.leave_by("Control+Enter")
        tab.sees("body", "1 ticket pasó a Aceptado.")

        # Hand over what somebody else should do.
        tab.visit(f"{LIST}{others[2].pk}/change/")
        tab.sees("#ticket")
        tab.press("h")
        tab.focused("#hand-over-to")
        tab.type("maría")
        tab.leave_by("Control+Enter")
        tab.refused()
        tab.sees("[role=alert]", "maría.gonzález está ausente.")
        tab.leave_by("Control+Enter")
        tab.sees(".desk-event", "ada lo transfirió de ada a maría.gonzález.")

        tab.press("?")
        tab.sees("#help", "tomar el siguiente ticket")
        tab.press("Escape")
        assert tab.complaints == []

    ticket = Ticket.objects.get(pk=number)
    assert (ticket.status, ticket.agent) == (Status.ACCEPTED, ada)
    papers = "Por favor, envíe:\n- Factura\n- Foto del daño"
    assert comments(ticket) == [
        ("agent", "Tercera vez esta semana, @maría.gonzález", False),
        (
            "agent",
            "Hola, Librería Andén:\n\nnecesitamos más datos de TEST0004101.\n" + papers,
            True,
        ),
        ("company", "Aquí están: https://a.example/factura.pdf", True),
        ("agent", "Gracias. Le devolvemos el dinero.", True),
    ]
    declined = Ticket.objects.filter(status=Status.DECLINED).order_by("pk")
    assert list(declined) == others[:2]
    assert str(Ticket.objects.get(pk=others[2].pk).agent) == "maría.gonzález"
