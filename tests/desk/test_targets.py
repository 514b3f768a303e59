"""Leads change calendars, targets and filing rules at the desk."""

from typing import Any

import pytest
from celery import current_app
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks

from companies.models import Company
from tests import builders as build
from tickets import jobs
from tickets.models import Calendar, FilingRule, Holiday, SLATarget, WorkingHours

RULES = ("calendar", "slatarget", "filingrule")


@pytest.fixture
def lead(db: None) -> Client:
    """Return the browser of Bea, a lead."""
    client = Client()
    client.force_login(build.agent("bea", group="lead").user)
    return client


@pytest.fixture
def rings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the jobs that were triggered."""
    rung: list[str] = []
    monkeypatch.setattr(current_app, "send_task", lambda _, names, **__: rung.extend(names))
    return rung


def page(what: str, row: Any = None, verb: str = "") -> str:
    verb = verb or ("change" if row else "add")
    return reverse(f"admin:tickets_{what}_{verb}", args=[row.pk] if row else [])


def calendar_form(
    *hours: tuple[int, str, str], holidays: tuple[str, ...] = (), **changes: str
) -> dict[str, str]:
    body = {"name": "Madrid", "time_zone": "Europe/Madrid", **changes}
    rows = [dict(zip(("weekday", "starts", "ends"), each, strict=True)) for each in hours]
    days = [{"day": day, "name": ""} for day in holidays]
    for prefix, forms in (("hours", rows), ("holidays", days)):
        body |= {f"{prefix}-TOTAL_FORMS": str(len(forms)), f"{prefix}-INITIAL_FORMS": "0"}
        body |= {
            f"{prefix}-{place}-{name}": str(value)
            for place, form in enumerate(forms)
            for name, value in form.items()
        }
    return body


def target_form(**changes: Any) -> dict[str, Any]:
    values = {"plan": "gold", "type": "", "calendar": Calendar.objects.get().pk}
    return {**values, "first_response_minutes": 60, "resolution_minutes": 600, **changes}


def refused(client: Client, what: str, body: dict[str, Any]) -> str:
    """Return the page that names the problem, after checking that nothing was saved."""
    models = (Calendar, WorkingHours, Holiday, SLATarget, FilingRule)
    before = [list(model.objects.values()) for model in models]
    answer = client.post(page(what), body)
    assert answer.status_code == 200
    assert [list(model.objects.values()) for model in models] == before
    return answer.content.decode()


def test_a_lead_makes_a_calendar_with_lunch_a_night_and_a_holiday(
    lead: Client,
    rings: list[str],
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    hours = [(0, "09:00", "13:00"), (0, "14:00", "18:00"), (4, "22:00", "00:00")]
    with django_capture_on_commit_callbacks(execute=True):
        answer = lead.post(page("calendar"), calendar_form(*hours, holidays=("2026-12-25",)))

    assert answer.status_code == 302, answer.content.decode()
    calendar = Calendar.objects.get(name="Madrid")
    assert [str(each) for each in calendar.hours.all()] == [
        "Monday 09:00 to 13:00",
        "Monday 14:00 to 18:00",
        "Friday 22:00 to 00:00",
    ]
    assert [str(each.day) for each in calendar.holidays.all()] == ["2026-12-25"]
    assert rings == ["recalculate_stale"]


@pytest.mark.parametrize(
    ("hours", "changes", "why"),
    [
        ([(0, "09:00", "18:00")], {"time_zone": "Europe/Atlantis"}, "There is no time zone"),
        ([(0, "09:00", "18:00")], {"time_zone": "../etc/passwd"}, "There is no time zone"),
        ([(0, "18:00", "09:00")], {}, "The end must be after the start"),
        ([(0, "09:00", "09:00")], {}, "The end must be after the start"),
        ([(0, "09:00", "13:00"), (0, "12:59", "18:00")], {}, "This interval overlaps another one"),
        ([(0, "14:00", "00:00"), (0, "15:00", "16:00")], {}, "This interval overlaps another one"),
        ([(0, "", "18:00")], {}, "This field is required"),
        ([], {}, "Add working hours"),
    ],
)
def test_says_at_the_field_what_cannot_be(
    lead: Client, hours: list[tuple[int, str, str]], changes: dict[str, str], why: str
) -> None:
    assert why in refused(lead, "calendar", calendar_form(*hours, **changes))


def test_the_last_hours_of_a_calendar_stay(lead: Client) -> None:
    calendar = Calendar.objects.get()
    body = calendar_form(*[(day, "09:00", "18:00") for day in range(5)]) | {
        "hours-INITIAL_FORMS": "5"
    }
    for place, hours in enumerate(calendar.hours.all()):
        body |= {f"hours-{place}-id": str(hours.pk), f"hours-{place}-DELETE": "on"}
        body |= {f"hours-{place}-calendar": str(calendar.pk)}

    answer = lead.post(page("calendar", calendar), body)

    assert "Add working hours" in answer.content.decode()
    assert calendar.hours.count() == 5


def test_a_lead_sets_a_target_and_open_tickets_follow(lead: Client, company: Company) -> None:
    Company.objects.update(plan="gold")
    ticket = build.ticket(company)
    jobs.recalculate_stale()
    ticket.refresh_from_db()
    before = ticket.due_at

    assert lead.post(page("slatarget"), target_form()).status_code == 302

    assert jobs.recalculate_stale() == 1
    ticket.refresh_from_db()
    assert ticket.due_at < before


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"plan": ""}, "already exists"),
        ({"first_response_minutes": 0}, "at least one minute"),
        ({"resolution_minutes": 2**31 - 1}, "more than fifty years"),
        ({"resolution_minutes": -1}, "greater than or equal to 0"),
    ],
)
def test_refuses_a_target_that_nobody_could_keep(
    lead: Client, changes: dict[str, Any], why: str
) -> None:
    assert why in refused(lead, "slatarget", target_form(**changes))


def test_refuses_a_target_by_a_calendar_that_is_of_no_use(lead: Client) -> None:
    WorkingHours.objects.all().delete()

    assert "This calendar is invalid." in refused(lead, "slatarget", target_form())


@pytest.mark.parametrize(
    ("changes", "why"),
    [({"days": 0}, "1 to 3650 days"), ({"days": 4000}, "1 to 3650 days"), ({}, "has a rule")],
)
def test_refuses_a_second_or_an_endless_filing_rule(
    lead: Client, changes: dict[str, Any], why: str
) -> None:
    FilingRule.objects.create(carrier_name="acme", type_id=4, days=30)

    body = {"carrier_name": "ACME", "type": 4, "days": 30, **changes}
    assert why in refused(lead, "filingrule", body)


def test_a_lead_takes_a_filing_rule_away(
    lead: Client,
    rings: list[str],
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    rule = FilingRule.objects.create(carrier_name="acme", type_id=4, days=30)
    with django_capture_on_commit_callbacks(execute=True):
        answer = lead.post(page("filingrule", rule, "delete"), {"post": "yes"})

    assert answer.status_code == 302
    assert not FilingRule.objects.exists()
    assert rings == ["recalculate_stale"]


def test_several_filing_rules_are_taken_away_at_once(
    lead: Client,
    rings: list[str],
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    rules = [FilingRule.objects.create(carrier_name=name, type_id=4, days=30) for name in "ab"]
    body = {"action": "delete_selected", "_selected_action": [one.pk for one in rules]}
    with django_capture_on_commit_callbacks(execute=True):
        answer = lead.post(page("filingrule", verb="changelist"), {**body, "post": "yes"})

    assert answer.status_code == 302
    assert not FilingRule.objects.exists()
    assert rings == ["recalculate_stale"]


def test_a_calendar_that_a_target_needs_stays(lead: Client) -> None:
    calendar = Calendar.objects.get()
    lead.post(page("calendar", calendar, "delete"), {"post": "yes"})

    assert Calendar.objects.filter(pk=calendar.pk).exists()


@pytest.mark.parametrize("what", RULES)
def test_agents_neither_see_nor_change_the_rules(desk: Client, what: str) -> None:
    rows = {
        "calendar": Calendar.objects.get(),
        "slatarget": SLATarget.objects.get(),
        "filingrule": FilingRule.objects.create(type_id=4, days=30),
    }
    assert desk.get(reverse(f"admin:tickets_{what}_changelist")).status_code == 403
    for address in (page(what), page(what, rows[what]), page(what, rows[what], "delete")):
        assert desk.post(address, {"post": "yes"}).status_code == 403
    assert (Calendar.objects.count(), SLATarget.objects.count()) == (1, 1)
    assert FilingRule.objects.count() == 1


@pytest.mark.parametrize("what", RULES)
def test_lists_take_as_many_statements_for_many_as_for_one(
    operator: Client, what: str, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    address = reverse(f"admin:tickets_{what}_changelist")
    operator.get(address)
    FilingRule.objects.create(type_id=4, days=30)
    with django_assert_num_queries(STATEMENTS[what]):
        assert operator.get(address).status_code == 200
    calendar = Calendar.objects.get()
    for number in range(24):
        new_calendar = Calendar.objects.create(name=f"Calendar {number}")
        new_calendar.hours.create(weekday=number % 7, starts="09:00", ends="10:00")
        values = {"first_response_minutes": 60, "resolution_minutes": 60, "calendar": calendar}
        SLATarget.objects.create(plan=f"plan {number}", type_id=4, **values)
        FilingRule.objects.create(carrier_name=f"carrier {number}", type_id=4, days=30)

    with django_assert_num_queries(STATEMENTS[what]):
        answer = operator.get(address)
    assert answer.status_code == 200
    assert len(answer.context["cl"].result_list) >= 24


STATEMENTS = {"calendar": 6, "slatarget": 5, "filingrule": 6}


def test_what_a_superuser_sees_of_a_calendar(operator: Client) -> None:
    html = operator.get(page("calendar", Calendar.objects.get())).content.decode()

    assert html.count('value="09:00:00"') == 5
