"""Leads set up automations; switching one on asks for confirmation with a count of tickets."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from companies.models import Company
from tests import builders as build
from tests.desk.words import words
from tickets import jobs
from tickets.automations.switching import save_automation
from tickets.changes.actors import NotAllowed
from tickets.models import Automation, Comment, Ticket
from tickets.statuses import Status

REMIND = {"wait_days": "3", "times": "2", "texts_en": "Are you there?", "texts_es": ""}
CLOSE = {
    "wait_days": "5",
    "last_days": "5",
    "texts_en": "",
    "texts_es": "",
    "last_texts_en": "",
    "last_texts_es": "",
}


def page(kind: str = "remind", type_id: int = 3) -> str:
    return reverse("desk_automation", args=[kind, type_id])


@pytest.fixture
def lead(db: None) -> Client:
    client = Client()
    client.force_login(build.agent("eve", group="lead", available=False).user)
    return client


@pytest.fixture
def silent(company: Company) -> Ticket:
    """Create a ticket whose company was asked for something three weeks ago."""
    then = timezone.now() - timedelta(days=21)
    ticket = build.ticket(company, status=Status.INCOMPLETE, created_at=then, updated_at=then)
    Comment.objects.create(
        ticket=ticket, by="agent", actor="ada", text="The invoice?", status=4, created_at=then
    )
    return ticket


def test_switching_on_asks_for_confirmation_with_a_count(
    lead: Client, silent: Ticket, company: Company
) -> None:
    build.ticket(company, status=Status.INCOMPLETE)
    html = lead.get(page()).content.decode()
    assert "It would touch 1 ticket today." in words(html)

    confirmation = lead.post(page(), {**REMIND, "act": "on"})
    assert "Do you want it on with these settings?" in words(confirmation.content.decode())
    assert not Automation.objects.exists()

    listed = lead.get(confirmation.context["tickets"])
    assert [one.pk for one in listed.context["cl"].result_list] == [silent.pk]

    assert jobs.run_automations() == 0
    result = lead.post(page(), {**REMIND, "act": "on", "confirmed": "1"}, follow=True)
    assert "Reminders: overweight: switched on." in words(result.content.decode())
    one = Automation.objects.get()
    assert (one.active, one.texts, str(one.changed_by)) == (True, {"en": "Are you there?"}, "eve")
    assert jobs.run_automations() == 1
    assert "every 3 working days" in words(lead.get(reverse("desk_automations")).content.decode())


def test_other_settings_of_one_that_is_on_are_asked_too_and_off_is_at_once(
    lead: Client, silent: Ticket
) -> None:
    Automation.objects.create(kind="remind", type_id=3, active=True, wait_days=60)
    confirmation = lead.post(page(), {**REMIND, "act": "save"})
    assert "It would touch 1 ticket today." in words(confirmation.content.decode())
    assert Automation.objects.get().wait_days == 60

    lead.post(page(), {"act": "off"})
    one = Automation.objects.get()
    assert (one.active, one.wait_days) == (False, 60)

    lead.post(page(), {**REMIND, "act": "save"})
    one.refresh_from_db()
    assert (one.active, one.wait_days) == (False, 3)


WRONG: list[tuple[str, dict[str, str], str, str]] = [
    ("remind", REMIND, "wait_days", "0"),
    ("remind", REMIND, "wait_days", "61"),
    ("remind", REMIND, "times", "some"),
    ("remind", REMIND, "texts_es", "Pregunte a @eve."),
    ("close", CLOSE, "last_days", ""),
    ("close", CLOSE, "last_texts_en", "x" * 2001),
]


@pytest.mark.parametrize(("kind", "body", "field", "value"), WRONG)
def test_invalid_setting_is_refused_at_its_field(
    lead: Client, kind: str, body: dict[str, str], field: str, value: str
) -> None:
    answer = lead.post(page(kind), {**body, field: value, "act": "on"})

    assert answer.status_code == 400
    assert list(answer.context["form"].errors) == [field]
    assert not Automation.objects.exists()


def test_only_leads_change_them(desk: Client, silent: Ticket) -> None:
    assert desk.get(reverse("desk_automations")).status_code == 403
    assert desk.post(page(), {**REMIND, "act": "on", "confirmed": "1"}).status_code == 403
    one = Automation(kind="remind", type_id=3)
    with pytest.raises(NotAllowed):
        save_automation(one, active=True, user=User.objects.get(username="ada"))
    assert not Automation.objects.exists()


@pytest.mark.parametrize("address", ["remind.3.3", "remind.3.0.2.5.2", "remind.999.3.2.5.2", "x"])
def test_an_address_that_names_no_automation_lists_nothing(
    lead: Client, silent: Ticket, address: str
) -> None:
    tickets = reverse("admin:tickets_ticket_changelist")
    listed = lead.get(tickets, {"queue": "waiting", "automation": address})

    assert list(listed.context["cl"].result_list) == []


def test_escalated_tickets_have_a_queue(lead: Client, company: Company) -> None:
    due: dict[str, Any] = {"due_at": timezone.now() + timedelta(hours=1)}
    raised = build.ticket(company, **due, escalated_due_at=due["due_at"])
    build.ticket(company, **due, escalated_due_at=timezone.now())
    build.ticket(company, **due)

    listed = lead.get(reverse("admin:tickets_ticket_changelist"), {"queue": "escalated"})
    assert [one.pk for one in listed.context["cl"].result_list] == [raised.pk]
