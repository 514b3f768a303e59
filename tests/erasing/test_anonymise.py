"""Anonymising decided tickets: their words are nowhere any more, all others are."""

from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from companies.models import AuditEntry, Company
from deliveries.models import Delivery, Event, State
from tests.erasing.columns import places_of
from tests.erasing.world import everything
from tickets.models import Agent, HistoryEntry, Ticket
from tickets.statuses import Status

ONE, OTHER = "zebracanary", "quaggacanary"
# What is about the company and not about its ticket.
OF_THE_COMPANY = (
    "companies_",
    "webhooks_",
    "shipments_",
    "deliveries_mail",
    "desk_savedview",
    "django_admin_log",
    "tickets_searchentry",
    "tickets_ticketfile",
)


@pytest.fixture
def tickets(agent: Agent) -> tuple[Ticket, Ticket]:
    """The ticket of each of two companies, decided a year ago, with all that was told of it."""
    for number, word in ((4100, ONE), (4200, OTHER)):
        everything(word, agent, number)
    found = [Ticket.objects.get(company__name=f"{word} Ltd") for word in (ONE, OTHER)]
    for ticket in found:
        Ticket.objects.filter(pk=ticket.pk).update(
            status=Status.ACCEPTED, decided_at=timezone.now() - timedelta(days=365)
        )
        Event.objects.filter(company=ticket.company).update(ticket_id=ticket.pk)
    return found[0], found[1]


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("anonymise", *arguments, stdout=out)
    return out.getvalue()


def test_its_words_are_nowhere_and_those_of_others_are(tickets: tuple[Ticket, Ticket]) -> None:
    one = tickets[0]
    before = places_of(OTHER)

    run("--ticket", str(one.pk), "--confirm", "1")

    left = [place for place in places_of(ONE) if not place.startswith(OF_THE_COMPANY)]
    assert left == []
    assert places_of(OTHER) == before
    one.refresh_from_db()
    assert (one.status, one.comments, one.decided_at is None) == (Status.ACCEPTED, "", False)
    assert HistoryEntry.objects.filter(ticket=one).exists()


def test_what_waits_to_be_sent_of_it_is_cancelled(tickets: tuple[Ticket, Ticket]) -> None:
    one, other = tickets

    run("--ticket", str(one.pk), "--confirm", "1")

    states = {
        ticket.pk: set(
            Delivery.objects.filter(webhook__company=ticket.company).values_list("state", flat=True)
        )
        for ticket in tickets
    }
    assert states == {
        one.pk: {State.CANCELLED, State.DELIVERED},
        other.pk: {State.WAITING, State.DELIVERED},
    }


def test_those_of_a_company_that_are_old(tickets: tuple[Ticket, Ticket], company: Company) -> None:
    one, other = tickets
    given = ("--company", str(one.company_id), "--older-than")

    assert run(*given, "400", "--confirm", "0").startswith("anonymised 0 tickets")
    assert run(*given, "300", "--dry-run") == "would anonymise 1 tickets\n"
    assert one.comments
    assert run(*given, "300", "--confirm", "1").startswith("anonymised 1 tickets")
    assert not Ticket.objects.get(pk=one.pk).comments
    assert Ticket.objects.get(pk=other.pk).comments


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ((), "Say --ticket ID"),
        (("--ticket", "{id}", "--company", "1"), "Say --ticket ID"),
        (("--company", "1"), "Say --ticket ID"),
        (("--ticket", "{id}"), "Confirm with --confirm 1. Nothing was blanked."),
        (("--ticket", "{id}", "--confirm", "2"), "Confirm with --confirm 1"),
        (("--ticket", "999999", "--confirm", "1"), "There is no ticket 999999"),
    ],
)
def test_is_not_done_by_mistake(
    tickets: tuple[Ticket, Ticket], given: tuple[str, ...], why: str
) -> None:
    with pytest.raises(CommandError, match=why):
        run(*(each.format(id=tickets[0].pk) for each in given))

    assert Ticket.objects.get(pk=tickets[0].pk).comments


def test_an_open_one_is_refused_and_nothing_is_lost(tickets: tuple[Ticket, Ticket]) -> None:
    Ticket.objects.filter(pk=tickets[1].pk).update(status=Status.FOLLOW_UP)
    both = [str(ticket.pk) for ticket in tickets]

    with pytest.raises(CommandError, match=f"Ticket {both[1]} is open; decide it first."):
        run("--ticket", *both, "--confirm", "2")

    assert Ticket.objects.get(pk=tickets[0].pk).comments


def test_the_audit_says_which(tickets: tuple[Ticket, Ticket], disk: Path) -> None:
    run("--ticket", str(tickets[0].pk), "--confirm", "1")

    entry = AuditEntry.objects.get(act="anonymise")
    assert str(tickets[0].pk) in str(entry.details)
    assert ONE not in str(entry.details)
