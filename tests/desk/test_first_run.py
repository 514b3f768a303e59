"""Settings that a lead makes once; each that is still missing is visible."""

from datetime import UTC, datetime, time, timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client

from companies.models import Company
from desk.first_run.ready_macros import READY_MACROS
from desk.models import Macro, Preferences, check_placeholders
from desk.ticket.macros import macros_for
from tests import builders as build
from tickets.models import Agent, Calendar, FilingRule, ReasonCode, TicketType
from tickets.sla import policy
from tickets.statuses import TERMINAL

pytestmark = pytest.mark.django_db
PAGE = "/admin/first-run/"
HOURS = {
    "do": "hours",
    "time_zone": "America/Mexico_City",
    "days": ["0", "1", "5"],
    "starts": "08:00",
    "ends": "16:30",
}
RULE = {"do": "filing", "carrier_name": "Estafeta", "type": "5", "days": "7"}


@pytest.fixture
def lead() -> Client:
    client = Client()
    client.force_login(build.agent("lea", group="lead").user)
    return client


def page_html(client: Client, path: str = PAGE) -> str:
    return client.get(path).content.decode()


def refusal(client: Client, data: dict[str, object]) -> str:
    answer = client.post(PAGE, data)
    assert answer.status_code == 400
    return answer.content.decode()


def test_only_a_lead_opens_it_and_is_reminded_of_it(lead: Client) -> None:
    agent = Client()
    agent.force_login(build.agent("ben").user)

    assert agent.get(PAGE).status_code == 403
    assert agent.post(PAGE, {"do": "hide"}).status_code == 403
    assert "Set up the desk" not in page_html(agent, "/admin/")
    assert "Set up the desk" in page_html(lead, "/admin/")


def test_page_warns_about_hours_in_utc_and_sets_others(lead: Client) -> None:
    html = page_html(lead)
    assert "Working hours are in the time zone UTC" in " ".join(html.split())
    assert "Monday 09:00 to 18:00" in html

    lead.post(PAGE, HOURS)

    calendar = Calendar.objects.get()
    assert calendar.time_zone == "America/Mexico_City"
    hours = calendar.hours.values_list("weekday", "starts", "ends")
    assert list(hours) == [(day, time(8), time(16, 30)) for day in (0, 1, 5)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"time_zone": "Mars/Base"}, "There is no time zone Mars/Base."),
        ({"ends": "07:00"}, "The end must be after the start."),
        ({"days": []}, "This field is required."),
    ],
)
def test_wrong_hours_are_refused_and_leave_no_trace(
    lead: Client, change: dict[str, object], message: str
) -> None:
    html = refusal(lead, {**HOURS, **change})

    assert message in html
    assert 'value="16:30"' in html or change == {"ends": "07:00"}
    calendar = Calendar.objects.get()
    assert (calendar.time_zone, calendar.hours.count()) == ("UTC", 5)


def test_hours_with_breaks_are_not_overwritten_by_the_form(lead: Client) -> None:
    Calendar.objects.get().hours.create(weekday=0, starts=time(19), ends=time(20))

    html = page_html(lead)

    assert 'id="hours_starts"' not in html
    assert "Breaks and holidays" in html


def test_without_filing_rules_the_pages_say_that_no_claim_has_a_deadline(
    lead: Client, company: Company
) -> None:
    ticket = f"/admin/tickets/ticket/{build.ticket(company, type_id=5).pk}/change/"
    sentence = "no filing rules are set"
    assert sentence in page_html(lead, ticket)
    assert sentence in page_html(lead).lower()
    agent = Client()
    agent.force_login(build.agent("ben").user)
    assert sentence in page_html(agent, ticket)
    assert PAGE not in page_html(agent, ticket)

    queue = "/admin/tickets/ticket/?queue=to-file"
    assert sentence in page_html(lead, queue)

    lead.post(PAGE, RULE)
    policy.clear_cached_rules()

    assert FilingRule.objects.get().days == 7
    assert sentence not in page_html(lead, queue)
    assert sentence not in page_html(lead, ticket)
    assert f"<bdi>{FilingRule.objects.get()}</bdi>" in page_html(lead)


def test_a_wrong_filing_rule_names_its_field_and_keeps_what_was_entered(lead: Client) -> None:
    lead.post(PAGE, RULE)

    assert "Give 1 to 3650 days." in refusal(lead, {**RULE, "days": "0", "type": "4"})
    html = refusal(lead, {**RULE, "carrier_name": "ESTAFETA"})
    assert "This carrier already has a rule for this type." in html
    assert 'value="ESTAFETA"' in html
    assert FilingRule.objects.count() == 1


def test_twelve_macros_are_ready_in_both_languages_and_name_what_exists() -> None:
    assert len(READY_MACROS) == 12
    types = set(TicketType.objects.values_list("pk", flat=True))
    wordings = [ready.translated(code) for ready in READY_MACROS for code in ("en", "es")]
    assert len({one.name for one in wordings}) == 24
    for one in wordings:
        check_placeholders(one.text)
        assert len(one.name) <= 80
    for ready in READY_MACROS:
        assert set(ready.types) <= types
        reason_code = ReasonCode.objects.filter(code=ready.code).first()
        decides = ready.move_to in TERMINAL
        assert bool(reason_code and reason_code.decides(ready.move_to)) is decides


def test_a_company_is_offered_the_ready_macros_of_its_language(lead: Client) -> None:
    Macro.objects.create(name="Tenemos lo necesario", text="Mine")
    every = [ready.slug for ready in READY_MACROS]

    lead.post(PAGE, {"do": "macros", "macros": every, "languages": ["en", "es"]})
    lead.post(PAGE, {"do": "macros", "macros": every, "languages": ["en", "es"]})

    assert Macro.objects.count() == 24
    assert Macro.objects.get(name="Tenemos lo necesario").text == "Mine"
    assert Macro.objects.get(name="Rechazar: faltan pruebas").reason_code.code == "evidence_missing"
    assert not Macro.objects.filter(move_to__in=TERMINAL, reason_code=None).exists()
    spanish = build.ticket(build.company("Altura", language="es"), type_id=5)
    english = build.ticket(build.company("Height", language="en"), type_id=5)
    assert "Dañado: pedir fotos y factura" in [one.name for one in macros_for(spanish)]
    assert "Accept: the claim" not in [one.name for one in macros_for(spanish)]
    assert "Accept: the claim" in [one.name for one in macros_for(english)]
    assert "Aceptar: el reclamo" not in [one.name for one in macros_for(english)]


def test_macros_without_a_choice_are_refused(lead: Client) -> None:
    assert "This field is required." in refusal(lead, {"do": "macros", "languages": ["en"]})
    assert not Macro.objects.exists()


def test_language_and_zone_are_the_lead_s_own(lead: Client) -> None:
    lead.post(PAGE, {"do": "language", "language": "es", "time_zone": "America/Bogota"})

    chosen = Preferences.objects.get()
    assert (chosen.language, chosen.time_zone) == ("es", "America/Bogota")


def unsettled(client: Client) -> int:
    return page_html(client, "/admin/").count("○")


def test_the_checklist_shrinks_and_goes_when_all_is_settled(lead: Client) -> None:
    assert unsettled(lead) == 6
    lead.post(PAGE, {"do": "language", "language": "", "time_zone": "UTC"})
    lead.post(PAGE, {"do": "settle", "step": "hours"})
    lead.post(PAGE, RULE)
    lead.post(PAGE, {"do": "settle", "step": "reasons"})
    build.macro()
    assert unsettled(lead) == 1

    ben = build.agent("ben")
    # Without a shift he is assigned tickets at 3 a.m., so a lead has to settle it.
    assert unsettled(lead) == 1
    ben.shifts.create(weekday=0, starts=time(9), ends=time(18))

    assert "Set up the desk" not in page_html(lead, "/admin/")


def test_the_checklist_is_hidden_and_shown_again(lead: Client) -> None:
    lead.post(PAGE, {"do": "hide"})
    assert "Set up the desk" not in page_html(lead, "/admin/")

    lead.post(PAGE, {"do": "show"})
    assert "Set up the desk" in page_html(lead, "/admin/")


SHIFTS = {"do": "agents", "time_zone": "America/Mexico_City", "days": ["0", "4"]}
SHIFTS |= {"starts": "08:00", "ends": "16:00"}


def test_agents_without_a_shift_are_given_one_and_tickets_only_then(lead: Client) -> None:
    ben, carla = build.agent("ben"), build.agent("carla", time_zone="Asia/Tokyo")
    carla.shifts.create(weekday=6, starts=time(1), ends=time(2))
    former_agent = build.agent("gone")
    User.objects.filter(pk=former_agent.user_id).update(is_active=False)
    night = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
    assert ben in Agent.objects.at_work(night)
    assert "2 agents have no shift" in page_html(lead)

    assert "The end must be after" in refusal(lead, {**SHIFTS, "ends": "07:00"})
    for _ in range(2):
        lead.post(PAGE, SHIFTS)

    assert ben not in Agent.objects.at_work(night)
    assert ben in Agent.objects.at_work(night + timedelta(hours=5))
    assert [(one.weekday, one.starts.hour) for one in ben.shifts.all()] == [(0, 8), (4, 8)]
    assert (carla.shifts.count(), Agent.objects.get(pk=carla.pk).time_zone) == (1, "Asia/Tokyo")
    assert former_agent.shifts.count() == 0
    assert "no shift and" not in page_html(lead)
    assert unsettled(lead) == 5


def test_only_leads_give_shifts(lead: Client) -> None:
    ben = build.agent("ben")
    other = Client()
    other.force_login(ben.user)

    assert other.post(PAGE, SHIFTS).status_code == 403
    assert not ben.shifts.exists()
