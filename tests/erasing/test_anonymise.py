"""Anonymised tickets and parcels: their words are gone, and all others remain."""

from datetime import timedelta
from io import StringIO
from pathlib import Path
from unittest.mock import Mock

import pytest
from django.contrib.admin.models import LogEntry
from django.core.management import CommandError, call_command
from django.utils import timezone

from companies.models import AuditEntry, Company
from deliveries.models import Delivery, Event, State
from shipments.models import Shipment
from tests.erasing.columns import places_of
from tests.erasing.world import everything
from tickets.changes import anonymising
from tickets.models import Agent, HistoryEntry, Ticket
from tickets.statuses import Status

ONE, OTHER = "zebracanary", "quaggacanary"
# Places about the company and not about its ticket.
OF_THE_COMPANY = (
    "companies_",
    "webhooks_",
    "shipments_",
    "core_",
    "desk_savedview",
    "django_admin_log",
    "portal_portalsession",
    "tickets_searchentry",
    "tickets_ticketfile",
)
# Places about neither its parcel nor its ticket.
OF_NO_PARCEL = tuple(
    each for each in OF_THE_COMPANY if each not in ("shipments_", "tickets_searchentry")
)


@pytest.fixture
def tickets(agent: Agent) -> tuple[Ticket, Ticket]:
    """Create a ticket for each of two companies, decided a year ago, with all its events."""
    for number, word in ((4100, ONE), (4200, OTHER)):
        everything(word, agent, number)
    pair = [Ticket.objects.get(company__name=f"{word} Ltd") for word in (ONE, OTHER)]
    for ticket in pair:
        Ticket.objects.filter(pk=ticket.pk).update(
            status=Status.ACCEPTED, decided_at=timezone.now() - timedelta(days=365)
        )
        Event.objects.filter(company=ticket.company).update(ticket_id=ticket.pk)
    return pair[0], pair[1]


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("anonymise", *arguments, stdout=out)
    return out.getvalue()


def test_words_of_the_ticket_are_gone_and_others_remain(tickets: tuple[Ticket, Ticket]) -> None:
    one = tickets[0]
    before = places_of(OTHER)

    run("--ticket", str(one.pk), "--confirm", "1")

    remaining = [place for place in places_of(ONE) if not place.startswith(OF_THE_COMPANY)]
    assert remaining == []
    assert places_of(OTHER) == before
    one.refresh_from_db()
    assert (one.status, one.comments, one.decided_at is None) == (Status.ACCEPTED, "", False)
    assert HistoryEntry.objects.filter(ticket=one).exists()


def test_waiting_deliveries_of_the_ticket_are_cancelled(tickets: tuple[Ticket, Ticket]) -> None:
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


def test_old_tickets_of_a_company_are_anonymised(
    tickets: tuple[Ticket, Ticket], company: Company
) -> None:
    one, other = tickets
    arguments = ("--company", str(one.company_id), "--older-than")

    assert run(*arguments, "400", "--confirm", "0").startswith("anonymised 0 tickets")
    assert run(*arguments, "300", "--dry-run") == "would anonymise 1 ticket\n"
    assert one.comments
    assert run(*arguments, "300", "--confirm", "1").startswith("anonymised 1 ticket:")
    assert not Ticket.objects.get(pk=one.pk).comments
    assert Ticket.objects.get(pk=other.pk).comments


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ((), "Say --ticket ID"),
        (("--ticket", "{id}", "--company", "1"), "Say --ticket ID"),
        (("--company", "1"), "Say --ticket ID"),
        (("--older-than", "1"), "Say --ticket ID"),
        (("--older-than", "1", "--company", "1", "--tracking-number", "x"), "Say --ticket ID"),
        (("--tracking-number", "x"), "There is no shipment with this tracking number."),
        (("--tracking-number", ""), "There is no shipment with this tracking number."),
        (("--tracking-number", ONE.upper()), "Confirm with --confirm 2. Nothing was blanked."),
        (("--ticket", "{id}"), "Confirm with --confirm 1. Nothing was blanked."),
        (("--ticket", "{id}", "--confirm", "2"), "Confirm with --confirm 1"),
        (("--ticket", "999999", "--confirm", "1"), "There is no ticket 999999"),
    ],
)
def test_anonymising_needs_a_confirmation(
    tickets: tuple[Ticket, Ticket], arguments: tuple[str, ...], why: str
) -> None:
    with pytest.raises(CommandError, match=why):
        run(*(each.format(id=tickets[0].pk) for each in arguments))

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


@pytest.fixture
def parcels(tickets: tuple[Ticket, Ticket]) -> tuple[Ticket, Ticket]:
    """Turn the tickets' events into events of their shipments."""
    for ticket in tickets:
        events = Event.objects.filter(company=ticket.company)
        events.update(ticket_id=None, shipment_id=ticket.shipment_id)
        events.filter(company__name=f"{ONE} Ltd").update(tracking_number=ONE.upper())
        LogEntry.objects.filter(content_type__model__in=("company", "webhook", "delivery")).delete()
    return tickets


def words_left() -> list[str]:
    return [place for place in places_of(ONE) if not place.startswith(OF_NO_PARCEL)]


BY_NUMBER = ("--tracking-number", ONE.upper(), "--confirm", "2")


def test_everything_about_a_parcel_is_anonymised(parcels: tuple[Ticket, Ticket]) -> None:
    one, other = parcels
    before = places_of(OTHER)
    assert run(*BY_NUMBER, "--dry-run") == "would anonymise 1 ticket and 1 shipment\n"

    assert run(*BY_NUMBER).startswith("anonymised 1 ticket and 1 shipment:")

    assert words_left() == []
    assert places_of(OTHER) == before
    shipment = Shipment.objects.get(pk=one.shipment_id)
    assert (shipment.tracking_number, shipment.order) == ("", None)
    assert shipment.updates.count() == 1
    states = Delivery.objects.order_by("state").values_list("webhook__company", "state")
    assert set(states) == {
        (one.company_id, State.CANCELLED),
        (one.company_id, State.DELIVERED),
        (other.company_id, State.WAITING),
        (other.company_id, State.DELIVERED),
    }


def test_parcel_of_another_company_with_the_same_number_stays(
    parcels: tuple[Ticket, Ticket],
) -> None:
    Event.objects.filter(company=parcels[1].company).update(tracking_number=ONE.upper())
    before = places_of(OTHER)

    run(*BY_NUMBER)

    assert places_of(OTHER) == before


def test_events_published_meanwhile_are_anonymised(
    parcels: tuple[Ticket, Ticket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(anonymising, "walk_events", lambda company_id, after: iter(()))

    run(*BY_NUMBER)

    assert words_left() == []
    waits = Delivery.objects.filter(webhook__company=parcels[0].company, state=State.WAITING)
    assert not waits.exists()


def test_the_parcel_of_an_open_ticket_is_refused(parcels: tuple[Ticket, Ticket]) -> None:
    Ticket.objects.filter(pk=parcels[0].pk).update(status=Status.FOLLOW_UP)
    before = places_of(ONE)

    with pytest.raises(CommandError, match=f"Ticket {parcels[0].pk} is open; decide it first."):
        run(*BY_NUMBER)

    # The audit log records the attempt, without the number.
    assert places_of(ONE) == before


def test_an_interrupted_one_is_found_by_its_number_again(
    parcels: tuple[Ticket, Ticket], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(anonymising, "blank_events", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            run(*BY_NUMBER)
    assert words_left()

    run(*BY_NUMBER)

    assert words_left() == []


def test_only_the_given_company_is_anonymised(parcels: tuple[Ticket, Ticket]) -> None:
    Shipment.objects.update(tracking_number=ONE.upper())

    run(*BY_NUMBER, "--company", str(parcels[0].company_id))

    shipments = Shipment.objects.filter(tracking_number=ONE.upper())
    assert [shipment.company_id for shipment in shipments] == [parcels[1].company_id]
    entry = AuditEntry.objects.get(act="anonymise")
    assert entry.about == f"shipment {parcels[0].shipment_id}"
    assert entry.company_id == parcels[0].company_id
