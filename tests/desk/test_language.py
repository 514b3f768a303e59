"""Language and time zone in which each user reads the desk (decisions N20 and N21)."""

import re
from datetime import UTC, datetime

import pytest
from django.test import Client
from pytest_django import Settings

from companies.models import Company
from desk.models import Macro, Preferences
from tests import builders as build
from tests.desk.forms import picked
from tickets.models import Agent, Comment, Ticket

pytestmark = pytest.mark.django_db

PAGE = "/admin/preferences/"
LIST = "/admin/tickets/ticket/"
AT = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


@pytest.fixture
def ticket(company: Company) -> Ticket:
    return build.ticket(company, type_id=4, created_at=AT)


def signed_in(agent: Agent) -> Client:
    client = Client()
    client.force_login(agent.user)
    return client


def final_page(client: Client, path: str) -> str:
    """Return the page at the end of all redirections."""
    return client.get(path, follow=True).content.decode()


def test_each_reads_the_desk_in_their_own_language(ticket: Ticket) -> None:
    ada, ben = signed_in(build.agent("ada")), signed_in(build.agent("ben"))
    ben.post(PAGE, {"language": "es", "time_zone": ""})
    page = f"{LIST}{ticket.pk}/change/"

    assert ">Conversation<" in final_page(ada, page)
    spanish = final_page(ben, page)

    assert ">Conversación<" in spanish
    assert '<html lang="es"' in spanish
    for english in ("Conversation", "Due dates", "Take next", "Open tickets", "My account"):
        assert english not in spanish
    assert "Mis tickets" in final_page(ben, LIST)
    assert "Quitar filtros" in final_page(ben, f"{LIST}?q=nothing")


def test_spanish_deployment_defaults_to_spanish(settings: Settings, ticket: Ticket) -> None:
    settings.DESK_LANGUAGE = "es"
    ada = signed_in(build.agent("ada"))

    assert "Iniciar sesión" in Client().get("/admin/login/").content.decode()
    assert "Mis tickets" in final_page(ada, LIST)
    ada.post(PAGE, {"language": "en", "time_zone": ""})
    assert ">Mine<" in re.sub(r">\s+|\s+<", lambda one: one[0].strip(), final_page(ada, LIST))


def test_refuses_in_the_language_of_the_agent_and_of_the_api(ticket: Ticket) -> None:
    ben = signed_in(build.agent("ben"))
    ben.post(PAGE, {"language": "es", "time_zone": ""})

    page = ben.post(f"{LIST}move/3/", {**picked(ticket), "reason": "", "code": "other"})

    assert "Escriba un motivo: se requiere para pasar de Pendiente" in page.content.decode()


def test_text_added_for_an_agent_is_in_the_company_s_language(ticket: Ticket) -> None:
    ben = signed_in(build.agent("ben"))
    ben.post(PAGE, {"language": "es", "time_zone": ""})

    ben.post(f"{LIST}move/4/", {**picked(ticket), "requested": ["Factura"]})

    assert Comment.objects.get().text == "Please send:\n- Factura"


def test_times_are_in_the_reader_s_zone_which_the_page_names_once(ticket: Ticket) -> None:
    ben = signed_in(build.agent("ben"))
    ben.post(PAGE, {"language": "es", "time_zone": "America/Mexico_City"})

    html = final_page(ben, f"{LIST}{ticket.pk}/change/")

    assert '<time datetime="2026-01-02T03:04:00+00:00">01/01/2026 21:04</time>' in html
    assert html.count("Hora del centro, UTC-06:00") == 1
    assert "UTC<" not in html


@pytest.mark.parametrize(
    ("chosen", "shifts", "deployment", "time"),
    [
        ("", "UTC", "UTC", "2026-01-02 03:04"),
        ("", "UTC", "Europe/Madrid", "2026-01-02 04:04"),
        ("", "Asia/Tokyo", "Europe/Madrid", "2026-01-02 12:04"),
        ("America/Bogota", "Asia/Tokyo", "Europe/Madrid", "2026-01-01 22:04"),
    ],
)
def test_the_zone_is_the_chosen_one_else_that_of_the_shifts_else_the_deployment_s(
    settings: Settings, ticket: Ticket, chosen: str, shifts: str, deployment: str, time: str
) -> None:
    settings.DESK_TIME_ZONE = deployment
    agent = build.agent("ada")
    Agent.objects.filter(pk=agent.pk).update(time_zone=shifts)
    Preferences.objects.create(user=agent.user, time_zone=chosen)

    assert f">{time}</time>" in final_page(signed_in(agent), f"{LIST}{ticket.pk}/change/")


def test_a_zone_that_does_not_exist_is_refused_and_leaves_no_trace() -> None:
    ada = signed_in(build.agent("ada"))

    answer = ada.post(PAGE, {"language": "es", "time_zone": "Mars/Base"})

    assert answer.status_code == 400
    html = answer.content.decode()
    assert "There is no time zone Mars/Base." in html
    assert 'value="Mars/Base"' in html
    assert not Preferences.objects.exists()


def test_a_day_of_a_filter_is_one_of_the_reader_s_zone(ticket: Ticket) -> None:
    ben = signed_in(build.agent("ben"))
    ben.post(PAGE, {"language": "", "time_zone": "America/Mexico_City"})

    def is_listed(day: str) -> bool:
        query = f"{LIST}?queue=everything&opened_from={day}&opened_to={day}"
        return f"#{ticket.pk}<" in final_page(ben, query)

    assert is_listed("2026-01-01")
    assert not is_listed("2026-01-02")


def test_a_macro_is_signed_with_the_agent_s_first_name(ticket: Ticket) -> None:
    agent = build.agent("maria.gonzalez")
    build.macro("hello", text="{agent} here.")
    client = signed_in(agent)

    assert "maria.gonzalez here." in final_page(client, f"{LIST}{ticket.pk}/change/")
    agent.user.first_name, agent.user.last_name = "María", "González"
    agent.user.save()
    assert "María here." in final_page(client, f"{LIST}{ticket.pk}/change/")


def test_a_macro_with_an_unknown_placeholder_is_refused_with_those_there_are() -> None:
    client = signed_in(build.agent("lea", group="lead"))
    typed = {"name": "hello", "text": "Dear {customer}, {ticket}", "public": "on", "active": "on"}

    html = client.post("/admin/desk/macro/add/", typed).content.decode()

    assert "There is no {customer}. There are {ticket}, {company}, {tracking} and {agent}." in html
    assert "Dear {customer}, {ticket}" in html
    assert not Macro.objects.exists()
    client.post("/admin/desk/macro/add/", {**typed, "text": "Dear {company}: {} and {2}"})
    assert Macro.objects.exists()
