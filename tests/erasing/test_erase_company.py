"""Erasing a company: a complete dump of the database and the storage is searched for its words."""

import json
from datetime import timedelta
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from companies import erasing, services
from companies.models import AuditEntry, Company, Erasure
from core.mailing.outbox import enqueue_mail
from core.models import Mail
from deliveries.models import OPEN, Delivery, Event, State
from deliveries.upkeep import erasable
from portal.models import PortalSession, TicketLink
from shipments.feed import parsing, recording
from tests import builders as build
from tests.erasing.columns import ENCRYPTED, KEPT_REASONS, places_of, text_columns
from tests.erasing.world import everything, file
from tests.tickets.racing import in_order
from tickets.models import Agent, HistoryEntry, SearchEntry, Ticket, TicketFile, UnfinishedFile
from webhooks.models import Webhook

ONE, OTHER = "zebracanary", "quaggacanary"


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erasing, "GRACE", timedelta(0))


@pytest.fixture
def companies(agent: Agent) -> tuple[Company, Company]:
    return everything(ONE, agent, 4100), everything(OTHER, agent, 4200)


@pytest.fixture
def operator(db: None) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    return client


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("erase_company", *arguments, stdout=out)
    return out.getvalue()


def erase(company: Company) -> str:
    return run(str(company.pk), "--confirm", company.name)


def on(disk: Path) -> list[str]:
    return sorted(path.read_text() for path in disk.rglob("*") if path.is_file())


def test_every_column_is_known(companies: tuple[Company, Company]) -> None:
    """Fill a new one in `world`, which proves that it is blanked, or name it with a reason."""
    filled = places_of(ONE)
    unknown = [
        f"{table}.{column}"
        for table, column in text_columns()
        if table not in KEPT_REASONS
        and f"{table}.{column}" not in KEPT_REASONS
        and f"{table}.{column}" not in ENCRYPTED
        and f"{table}.{column}" not in filled
    ]
    assert unknown == [], (
        "have them blanked (tickets/stated_fields.py or the erasable.py of the app), or say in"
        " tests/erasing/columns.py why they stay"
    )
    assert [
        place for place in filled if place in KEPT_REASONS or place.split(".")[0] in KEPT_REASONS
    ] == []


def test_nothing_of_it_is_left_and_all_of_its_neighbour(
    companies: tuple[Company, Company], disk: Path
) -> None:
    one, _ = companies
    assert on(disk) == [OTHER] * 4 + [ONE] * 4
    neighbour = places_of(OTHER)

    assert erase(one).startswith(f"erased company {one.pk}: ")

    assert places_of(ONE) == {}
    assert places_of(OTHER) == neighbour
    assert on(disk) == [OTHER] * 4
    assert not UnfinishedFile.objects.exists()
    doors = (PortalSession.objects.all(), TicketLink.objects.all(), Mail.objects.all())
    # The neighbour keeps a session, a link, and two emails, one with the link.
    assert [rows.count() for rows in doors] == [1, 1, 2]
    for column in ENCRYPTED:
        table, name = column.split(".")
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT count(*) FROM {table} WHERE company_id = %s AND {name} IS NOT NULL",  # noqa: S608
                [one.pk],
            )
            assert cursor.fetchone() == (0,), column


def test_the_skeleton_stays(companies: tuple[Company, Company]) -> None:
    one, _ = companies
    ticket = Ticket.objects.get(company=one)
    (entry,) = HistoryEntry.objects.filter(ticket=ticket)
    times = list(Event.objects.filter(company=one).values_list("pk", "created_at"))

    erase(one)

    one.refresh_from_db()
    assert (one.name, one.active) == (f"erased company {one.pk}", False)
    assert list(Event.objects.filter(company=one).values_list("pk", "created_at")) == times
    after = HistoryEntry.objects.get(pk=entry.pk)
    assert (after.by, after.was, after.now, after.created_at) == (
        entry.by,
        entry.was,
        entry.now,
        entry.created_at,
    )
    assert after.data["agent"] == [None, "ada"]
    assert Ticket.objects.get(pk=ticket.pk).status == ticket.status
    assert SearchEntry.objects.filter(ticket=ticket).exists()
    assert TicketFile.objects.filter(company=one).count() == 2
    states = Delivery.objects.filter(webhook__company=one).values_list("state", flat=True)
    assert sorted(states) == [State.DELIVERED] * 2 + [State.CANCELLED] * 2
    assert not Webhook.objects.filter(company=one, deleted_at=None).exists()


def test_the_company_can_do_nothing_from_then_on(company: Company, api: APIClient) -> None:
    shipment = build.shipment(company)
    erase(company)

    assert api.get("/company/tickets").status_code == 401
    with pytest.raises(services.ErasedCompany):
        services.set_active(company.pk, True)
    with pytest.raises(services.ErasedCompany):
        services.issue_token(company.pk)
    lines = [
        {"kind": "tracking", "shipment_id": shipment.pk, "status": "Picked up"},
        {
            "kind": "shipment",
            "shipment_id": 99,
            "company_id": company.pk,
            "tracking_number": "X1",
            "carrier_name": "acme",
        },
    ]
    bad = recording.record_facts([parsing.parse(line) for line in lines]).bad
    assert [reason for _, reason in bad] == [
        f"shipment_id: the company of shipment {shipment.pk} was erased",
        f"company_id: company {company.pk} was erased",
    ]


def test_the_desk_shows_what_is_left(companies: tuple[Company, Company], operator: Client) -> None:
    one, _ = companies
    erase(one)

    ticket, webhook = Ticket.objects.get(company=one), Webhook.objects.filter(company=one)[1]
    delivery = Delivery.objects.filter(webhook=webhook)[0]
    for address in (
        f"companies/company/{one.pk}/change/",
        f"tickets/ticket/{ticket.pk}/change/",
        f"shipments/shipment/{ticket.shipment_id}/change/",
        f"webhooks/webhook/{webhook.pk}/change/",
        f"deliveries/delivery/{delivery.pk}/change/",
    ):
        assert operator.get(f"/admin/{address}").status_code == 200, address
    # It cannot get a name or be switched on again.
    assert (
        operator.post(
            f"/admin/companies/company/{one.pk}/change/", {"name": "x", "active": "on"}
        ).status_code
        == 403
    )
    one.refresh_from_db()
    assert (one.name, one.active) == (f"erased company {one.pk}", False)


def test_overtaken_erasure_is_refused(company: Company) -> None:
    part, other = erasing.all_parts()[:2]
    one, another = (erasing.begin_erasure(company.pk) for _ in range(2))
    erasing.move_on(one, part, None, {})
    with pytest.raises(erasing.Overtaken):
        erasing.move_on(another, other, None, {})

    one, another = (erasing.begin_erasure(company.pk) for _ in range(2))
    erasing.move_on(one, part, [7], {})

    with pytest.raises(erasing.Overtaken):
        erasing.move_on(another, part, [7], {})


class Killed(BaseException):
    pass


@pytest.mark.parametrize("at", range(0, 14, 2))
def test_killed_erasure_goes_on(
    companies: tuple[Company, Company], disk: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    one, _ = companies
    monkeypatch.setattr(erasable, "STEP", 1)
    neighbour, remaining, move_on = places_of(OTHER), at, erasing.move_on

    def dying(*arguments: Any) -> None:
        nonlocal remaining
        remaining -= 1
        if remaining < 0:
            raise Killed
        move_on(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(erasing, "move_on", dying)
        with pytest.raises(Killed):
            erase(one)
    one.refresh_from_db()
    assert not one.active

    erase(one)

    assert places_of(ONE) == {}
    assert places_of(OTHER) == neighbour
    assert on(disk) == [OTHER] * 4
    assert Erasure.objects.filter(company_id=one.pk, ended_at__isnull=False).count() == 1


@pytest.mark.usefixtures("rows_to_keep")
def test_delivery_that_ends_meanwhile_is_erased(agent: Agent) -> None:
    """Retry it: a delivery that ends moves to another partition, and its waiter is refused."""
    company = everything(ONE, agent, 4100)

    def deliver() -> int:
        waiting = Delivery.objects.filter(archived_on=OPEN)
        return waiting.update(state=State.DELIVERED, archived_on=timezone.now().date())

    delivered, erased = in_order(deliver, partial(erasing.erase_all_of, company.pk))

    assert delivered == 2
    assert isinstance(erased, Erasure)
    assert erased.ended_at


def test_the_storage_may_be_away_meanwhile(
    company: Company, disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file(company, build.ticket(company), ONE)

    def fail(name: str) -> None:
        raise OSError("the storage is away")

    with monkeypatch.context() as patched:
        patched.setattr(default_storage, "delete", fail)
        with pytest.raises(OSError, match="away"):
            erase(company)
    assert on(disk) == [ONE, ONE]

    erase(company)

    assert on(disk) == []


def test_history_is_blanked_and_nothing_else(company: Company, agent: Agent) -> None:
    everything(ONE, agent, 1)
    entry = HistoryEntry.objects.get()
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('parceldesk.erasing', 'on', true)")
        for statement in (
            "UPDATE tickets_historyentry SET now = 3",
            "UPDATE tickets_historyentry SET actor = 'x', reason = ''",
            "DELETE FROM tickets_historyentry",
        ):
            with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
                cursor.execute(statement)
    entry.refresh_from_db()
    assert entry.reason == ONE


def test_a_rehearsal_counts_and_keeps(companies: tuple[Company, Company]) -> None:
    one, _ = companies
    before = places_of(ONE)

    counts = json.loads(run(str(one.pk), "--dry-run", "--json"))

    assert (counts["tickets"], counts["events"], counts["deliveries"]) == (1, 2, 4)
    assert places_of(ONE) == before
    assert Company.objects.get(pk=one.pk).active
    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize("name", ["Birch", "", None])
def test_nothing_goes_without_its_name(company: Company, name: str | None) -> None:
    confirmed = [] if name is None else ["--confirm", name]
    with pytest.raises(CommandError, match="name"):
        run(str(company.pk), *confirmed)

    assert Company.objects.get().active
    assert not Erasure.objects.exists()


def test_audit_log_has_counts_and_no_names(companies: tuple[Company, Company]) -> None:
    one, _ = companies
    erase(one)

    entry = AuditEntry.objects.get()
    assert (entry.act, entry.company_id) == ("erase_company", one.pk)
    assert "1 tickets" in str(entry.outcome)
    assert ONE not in str(vars(entry)).lower()


def test_a_restored_backup_is_erased_again(
    companies: tuple[Company, Company], tmp_path: Path
) -> None:
    one, _ = companies
    erase(one)
    listed = tmp_path / "erased.jsonl"
    listed.write_text(run("--list"))
    assert [json.loads(line)["company_id"] for line in listed.read_text().splitlines()] == [one.pk]
    # The backup was made earlier, and has no record of the erasure.
    Erasure.objects.all().delete()
    Company.objects.filter(pk=one.pk).update(
        name=f"{ONE} Ltd", active=True, erased_at=None, contact_email=f"{ONE}@example.com"
    )
    Ticket.objects.filter(company=one).update(comments=ONE)
    neighbour = places_of(OTHER)

    assert str(one.pk) in run("--again", str(listed), "--dry-run")
    run("--again", str(listed))

    assert places_of(ONE) == {}
    assert places_of(OTHER) == neighbour


def test_log_of_every_webhook_is_walked(
    companies: tuple[Company, Company], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Walk in steps of one row, from any webhook that the walk had reached."""
    one, _ = companies
    monkeypatch.setattr(erasable, "STEP", 1)
    own = {str(each.pk) for each in Delivery.objects.filter(webhook__company=one)}

    steps = list(erasable.walk_log(one.pk, None))
    assert {key for keys, _ in steps for key in keys} == own
    for number, (_, place) in enumerate(steps, start=1):
        rest = [keys for keys, _ in erasable.walk_log(one.pk, place)]
        assert rest == [keys for keys, _ in steps[number:]]


def test_waiting_email_to_an_address_that_two_companies_share_goes_with_the_last_of_them(
    company: Company, birch: Company
) -> None:
    for each in (company, birch):
        each.contact_email = "both@example.com"
        each.save()
    enqueue_mail("both@example.com", "To one of the two", "Text")

    erase(company)
    assert Mail.objects.count() == 1

    erase(birch)
    assert not Mail.objects.exists()
