"""A second party at each lock of this app."""

from collections import Counter
from datetime import timedelta
from functools import partial

import pytest
from django.utils import timezone

from companies import erasing
from companies.models import Company
from core.files.refusals import FileRefused
from tests import builders as build
from tests.locks import (
    MakePair,
    Pair,
    covered_elsewhere,
    in_transaction,
    pairs_in,
    play,
    shows,
    twice,
)
from tickets.assignment import automatic, loads, taking
from tickets.changes import (
    anonymising,
    erasable,
    file_upkeep,
    files,
    notifications,
    old_files,
    search_entries,
)
from tickets.changes.actors import Actor
from tickets.models import Notification, Ticket, UnfinishedFile
from tickets.sla import policy, recalculation
from tickets.statuses import By, Status

CALLER = Actor(By.COMPANY, "test")
covered_elsewhere(
    "tickets/models/tickets.py::TicketQuerySet.hold",
    "tests/desk/test_races.py::test_one_of_two_contrary_decisions_falls",
)
# Functions that commit by themselves: other tests bring the second party.
covered_elsewhere(
    "tickets/assignment/automatic.py::assign_waiting",
    "tests/tickets/test_assignment_races.py::test_several_sweeps_assign_each_ticket_once",
)
covered_elsewhere(
    "tickets/automations/acting.py::act",
    "tests/tickets/test_automations.py::test_a_company_that_answers_first_is_not_declined",
)


def ticket(status: Status = Status.PENDING) -> Ticket:
    return build.ticket(build.company(), status=status, decided_at=timezone.now())


@shows("tickets/assignment/automatic.py::candidates_query")
def assign_two_tickets_to_whoever_has_room_for_one() -> Pair:
    build.agent("ada", capacity=1)
    one, other = ticket(), ticket()
    return Pair(
        first=in_transaction(partial(automatic.assign, one)),
        second=in_transaction(partial(automatic.assign, other)),
        gives=False,
    )


@shows("tickets/assignment/loads.py::SUM_UP")
def sum_up_the_same_loads() -> Pair:
    build.ticket(build.company(), agent=build.agent("ada"))
    return twice(loads.sum_up, gives=None, waits=False)


@shows("tickets/assignment/reassigning.py::lock_and_assign")
def take_two_tickets() -> Pair:
    user = build.agent("ada").user
    one, other = ticket(), ticket()
    return Pair(
        first=partial(taking.take_ticket, one.pk, user),
        second=partial(taking.take_ticket, other.pk, user),
    )


@shows("tickets/assignment/taking.py::take_next")
def take_the_last_ticket() -> Pair:
    one, other = build.agent("ada"), build.agent("bob")
    ticket()
    return Pair(
        first=partial(taking.take_next, one.user),
        second=partial(taking.take_next, other.user),
        gives=None,
        waits=False,
    )


@shows("tickets/changes/anonymising.py::blank_decided")
def blank_the_same_ticket() -> Pair:
    return twice(partial(anonymising.blank_decided, [ticket(Status.ACCEPTED).pk]))


@shows("tickets/changes/anonymising.py::blank_shipments")
def blank_the_same_shipment() -> Pair:
    shipment = build.shipment(build.company())
    return twice(partial(anonymising.blank_shipments, [shipment.pk], Counter()))


@shows("tickets/changes/erasable.py::FILES")
def blank_the_same_file() -> Pair:
    file = build.file(build.company())
    return twice(partial(erasing.execute_all, erasable.BLANK_FILES, [file.pk]), {"files": 0})


@shows("tickets/changes/files.py::attach_files")
def attach_the_same_file_to_two_tickets() -> Pair:
    company = build.company()
    file, one, other = build.file(company), build.ticket(company), build.ticket(company)

    def attach(to: Ticket) -> object:
        return files.attach_files(company, to.pk, CALLER, [file.pk], requested=None)

    return Pair(first=partial(attach, one), second=partial(attach, other), gives=files.NoSuchFile)


@shows("tickets/changes/files.py::keep_unattached")
def keep_the_last_unattached_file() -> Pair:
    company = build.company()
    for _ in range(files.MOST_UNATTACHED - 1):
        build.file(company)

    def keep(name: str, company: Company = company) -> object:
        UnfinishedFile.objects.get_or_create(name=name, created_at=timezone.now())
        new = files.NewFile(
            name="box.png",
            description="",
            media_type="image/png",
            size=67,
            sha256="5e" * 32,
            active=False,
            stored_as=name,
        )
        return files.keep_unattached(company, new)

    return Pair(first=partial(keep, "one"), second=partial(keep, "other"), gives=FileRefused)


@shows("tickets/changes/file_upkeep.py::delete_unattached")
def let_go_of_the_same_file() -> Pair:
    build.file(build.company(), created_at=timezone.now() - timedelta(days=9))
    return twice(file_upkeep.delete_unattached, gives=None, waits=False)


@shows("tickets/changes/notifications.py::READ")
def read_the_same_notification() -> Pair:
    user = build.agent("ada").user
    kind = Notification.Kind.ANSWERED
    Notification.objects.create(
        recipient=user, ticket=ticket(), kind=kind, by="company", created_at=timezone.now()
    )
    return twice(partial(notifications.mark_read, user), gives=0, waits=False)


@shows("tickets/changes/old_files.py::FORGET")
def forget_the_same_file() -> Pair:
    one = ticket(Status.ACCEPTED)
    file = build.file(one.company, ticket=one)
    later = timezone.now() + timedelta(days=1)
    return twice(partial(old_files.detach_contents, [file.pk], later))


@shows("tickets/changes/search_entries.py::write_anew")
def write_the_same_entries() -> Pair:
    return twice(in_transaction(partial(search_entries.write_anew, [ticket().pk])))


@shows("tickets/sla/recalculation.py::recalculate_batch")
def recalculate_the_same_ticket() -> Pair:
    recalculate = partial(recalculation.recalculate_batch, rules=policy.load_rules())
    return twice(in_transaction(partial(recalculate, [ticket().pk])))


@pytest.mark.usefixtures("rows_to_keep")
@pytest.mark.parametrize("make", pairs_in(__name__), ids=lambda make: make.__name__)
def test_second_party_waits_or_passes_by(make: MakePair) -> None:
    play(make())
