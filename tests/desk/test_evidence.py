"""Evidence of a shipment: exact, complete, limited to its company, and without secrets."""

import base64
import hashlib
import json
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from companies.models import Company
from deliveries import publishing
from deliveries.engine import recording
from deliveries.engine.signing import sign
from deliveries.models import Delivery, Event
from desk.claim_file import making
from desk.support import lookup
from shipments.models import Shipment
from tests import builders as build
from tests import files
from tests.deliveries.test_recording import claim_one, failed, result
from tests.desk.test_claim_file import content_of, keep, unpacked
from tickets import roles
from tickets.changes.actors import NotAllowed
from tickets.models import Agent, HistoryEntry, Ticket
from webhooks.models import Webhook

BODY = '{"status":"Entregado en León"}'.encode()
FIND = "/admin/tickets/ticket/events/"


@pytest.fixture
def ticket(company: Company) -> Ticket:
    """Create a ticket about a parcel with one event that was attempted twice."""
    build.webhook(company, auth_token="delivery-token-nobody-sees")
    build.shipment(company)
    publishing.publish([build.news(company, 4101, tracking_number="TEST0004101", body=BODY)])
    recording.record_attempts([failed(claim_one(), wait=-1, detail="Too slow.")])
    recording.record_attempts([result(claim_one(), answer=b"<b>thanks</b>")])
    return build.ticket(company, shipment_id=4101)


def address(ticket: Ticket) -> str:
    return f"/admin/tickets/ticket/{ticket.pk}/evidence/"


def record(client: Client, ticket: Ticket) -> dict[str, Any]:
    return json.loads(unpacked(client.post(address(ticket)))["evidence.json"])


def test_holds_the_exact_bodies_the_attempts_and_the_answers(desk: Client, ticket: Ticket) -> None:
    answer = desk.post(address(ticket))

    assert answer.headers["Content-Disposition"].startswith("attachment")
    archive = unpacked(answer)
    record = json.loads(archive["evidence.json"])
    [delivery] = record["deliveries"]
    assert archive[delivery["body"]["file"]] == BODY == base64.b64decode(delivery["body"]["base64"])
    assert delivery["x_webhook_id"] == str(Delivery.objects.get().pk)
    assert delivery["state"] == "delivered"
    assert delivery["headers"]["X-Webhook-Event"] == "tracking.simple"
    event = Event.objects.get()
    assert delivery["headers"]["X-Webhook-Event-Id"] == str(event.fact_id)
    assert delivery["headers"]["X-Webhook-Sequence"] == str(event.sequence)
    first, second = delivery["attempts"]
    assert (first["status"], first["outcome"]) == (None, "No response within the time limit.")
    assert (second["status"], second["answer"]["text"]) == (204, "<b>thanks</b>")
    assert "can be checked" in second["signature"]
    sent_at = int(second["x_webhook_timestamp"])
    assert second["x_webhook_signature"] == sign("5e" * 32, sent_at, "tracking.simple", BODY)
    assert second["x_webhook_signature"].encode() in archive["index.html"]
    assert record["complete"]
    assert b"&lt;b&gt;thanks" in archive["index.html"]


def test_the_ticket_s_page_leads_to_it(desk: Client, ticket: Ticket) -> None:
    html = desk.get(f"/admin/tickets/ticket/{ticket.pk}/change/").content.decode()

    assert address(ticket) in html
    assert f"{FIND}?shipment_id=4101" in html


def test_the_manifest_has_the_digest_of_every_file(desk: Client, ticket: Ticket) -> None:
    archive = unpacked(desk.post(address(ticket)))

    digests = json.loads(archive.pop("manifest.json"))["sha256"]

    assert digests == {name: hashlib.sha256(archive[name]).hexdigest() for name in archive}


def test_the_same_state_gives_the_same_bytes(desk: Client, ticket: Ticket) -> None:
    once, again = (content_of(desk.post(address(ticket))) for _ in range(2))

    assert once == again


def test_holds_no_file_that_an_agent_added_for_colleagues(desk: Client, ticket: Ticket) -> None:
    keep(ticket, "box.png", files.picture(), "image/png")
    keep(ticket, "for us.png", files.picture(), "image/png", public=False, by="agent", actor="ada")

    archive = unpacked(desk.post(address(ticket)))

    record = json.loads(archive["evidence.json"])
    assert [file["name"] for file in record["files"]] == ["box.png"]
    assert [name for name in archive if name.startswith("files/")] == [record["files"][0]["file"]]
    assert record["complete"]
    assert b"for us" not in b"".join(archive.values())


def test_holds_no_secret(desk: Client, ticket: Ticket) -> None:
    every = b"".join(unpacked(desk.post(address(ticket))).values()).decode()

    for secret in ["5e" * 32, "delivery-token-nobody-sees", 'Authorization":']:
        assert secret not in every


def test_says_that_a_signature_cannot_be_checked_once_the_secret_was_rotated(
    desk: Client, ticket: Ticket
) -> None:
    Webhook.objects.update(next_secret="6f" * 32, next_secret_at=timezone.now())

    [delivery] = record(desk, ticket)["deliveries"]

    first, second = delivery["attempts"]
    assert "can no longer be checked" in first["signature"]
    assert first["x_webhook_signature"] is second["x_webhook_timestamp"] is None


def test_history_says_who_took_it_and_companies_do_not_see_that(
    desk: Client, ticket: Ticket
) -> None:
    content = content_of(desk.post(address(ticket)))

    entry = HistoryEntry.objects.get()
    assert (entry.actor, entry.public) == ("ada", False)
    assert entry.kind == "evidence_taken"
    assert entry.data == {"sha256": hashlib.sha256(content).hexdigest()}


def test_holds_nothing_of_another_company(desk: Client, birch: Company, ticket: Ticket) -> None:
    build.webhook(birch)
    theirs = build.ticket(birch, shipment_id=4101)
    publishing.publish([build.news(birch, 9, tracking_number="TEST0004101")])

    assert record(desk, theirs)["deliveries"] == []
    assert record(desk, theirs)["shipment"] is None
    assert len(record(desk, ticket)["deliveries"]) == 1


def test_says_that_it_was_truncated(
    desk: Client, company: Company, ticket: Ticket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookup, "MOST_DELIVERIES", 2)
    news = [build.news(company, 4101, tracking_number="TEST0004101") for _ in range(3)]
    publishing.publish(news)

    truncated_record = record(desk, ticket)

    assert not truncated_record["complete"]
    assert len(truncated_record["deliveries"]) == 2


def test_is_downloaded_by_post_with_both_permissions(
    desk: Client, client: Client, ticket: Ticket
) -> None:
    assert desk.get(address(ticket)).status_code == 405
    assert desk.post("/admin/tickets/ticket/999999/evidence/").status_code == 404
    operator = User.objects.create_user("olga", is_staff=True)
    operator.groups.add(roles.group("operator"))
    client.force_login(operator)
    assert client.post(address(ticket)).status_code == 403
    with pytest.raises(NotAllowed):
        making.evidence(ticket, user=operator)
    assert not HistoryEntry.objects.exists()


@pytest.mark.parametrize(
    "query",
    [
        {"shipment_id": "4101"},
        {"tracking_number": "TEST0004101"},
        {"company": "acme"},
        {"company": "Acme", "shipment_id": "4101", "type_id": "3"},
        {"delivery_id": "itself"},
    ],
)
def test_shows_the_state_of_an_event_s_deliveries(
    desk: Client, ticket: Ticket, query: dict
) -> None:
    delivery = Delivery.objects.get()
    if "delivery_id" in query:
        query = {"delivery_id": str(delivery.pk)}

    html = desk.get(FIND, query).content.decode()

    assert str(delivery.pk) in html
    assert "delivered" in html


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ({"shipment_id": "9999"}, "The platform has not reported a shipment 9999."),
        ({"company": "Birch", "shipment_id": "4101"}, "of Birch."),
        (
            {"company": "Birch", "tracking_number": "TEST0004101"},
            "No event of TEST0004101 is stored",
        ),
        ({"company": "Birch"}, "Birch has no webhook."),
        ({"company": "Nobody"}, "Company not found."),
        ({"type_id": "3"}, "Select a company."),
        ({"shipment_id": "9" * 30}, "less than or equal"),
        ({"company": "Acme", "type_id": "5"}, "has no webhook of this type"),
        ({"delivery_id": "01a1fa12-91b9-736b-934f-6c5b515fd1da"}, "There is no delivery"),
        ({"tracking_number": "a\x00b"}, "Null characters"),
    ],
)
def test_explains_an_empty_result(
    desk: Client, birch: Company, ticket: Ticket, query: dict, says: str
) -> None:
    answer = desk.get(FIND, query)

    assert answer.status_code == 200
    assert says in answer.content.decode()
    assert str(Delivery.objects.get().pk) not in answer.content.decode()


def test_says_that_a_paused_webhook_keeps_it_waiting(desk: Client, ticket: Ticket) -> None:
    Webhook.objects.update(active=False)

    assert "are paused" in desk.get(FIND, {"shipment_id": "4101"}).content.decode()


def test_is_refused_without_permission_for_deliveries(client: Client, ticket: Ticket) -> None:
    client.force_login(User.objects.create_user("newcomer", is_staff=True))

    assert client.get(FIND, {"shipment_id": "4101"}).status_code == 403


def of_shipment(number: int) -> str:
    return f"{FIND}{number}/evidence/"


@pytest.mark.parametrize(
    "query",
    [{"shipment_id": "4101"}, {"tracking_number": "TEST0004101"}, {"delivery_id": "itself"}],
)
def test_a_missing_event_leads_to_the_evidence_of_its_shipment(
    desk: Client, ticket: Ticket, query: dict
) -> None:
    if "delivery_id" in query:
        query = {"delivery_id": str(Delivery.objects.get().pk)}

    assert of_shipment(4101) in desk.get(FIND, query).content.decode()


def test_event_of_a_ticket_is_found_and_is_no_evidence(desk: Client, ticket: Ticket) -> None:
    webhook = build.webhook(ticket.company, 6)
    about = {"tracking_number": "TEST0004101", "type": 6, "ticket_id": ticket.pk}
    publishing.publish([build.news(ticket.company, 4101, **about)])
    delivery = Delivery.objects.get(webhook=webhook)

    by_number = desk.get(FIND, {"tracking_number": "TEST0004101"}).content.decode()
    by_id = desk.get(FIND, {"delivery_id": str(delivery.pk)}).content.decode()
    page = desk.get(f"/admin/deliveries/delivery/{delivery.pk}/change/").content.decode()

    assert f"ticket {ticket.pk}" in by_number
    assert of_shipment(4101) in by_id
    assert f"ticket {ticket.pk}" in page
    assert [one["event"] for one in record(desk, ticket)["deliveries"]] == ["tracking.simple"]


def test_search_by_company_alone_offers_no_shipment_evidence(desk: Client, ticket: Ticket) -> None:
    html = desk.get(FIND, {"company": ticket.company.name}).content.decode()

    assert "/webhooks/webhook/" in html
    assert "/evidence/" not in html


def test_evidence_of_a_shipment_lacks_only_the_ticket(desk: Client, ticket: Ticket) -> None:
    of_ticket = record(desk, ticket)

    answer = desk.post(of_shipment(4101))

    assert 'filename="evidence-shipment-4101.zip"' in answer.headers["Content-Disposition"]
    archive = unpacked(answer)
    evidence = json.loads(archive["evidence.json"])
    assert evidence["ticket"] is None
    assert {**evidence, "ticket": of_ticket["ticket"]} == of_ticket
    assert b"Ticket" not in archive["index.html"]


def test_the_shipment_s_log_says_who_took_it(desk: Client, agent: Agent, ticket: Ticket) -> None:
    content = content_of(desk.post(of_shipment(4101)))

    entry = LogEntry.objects.get()
    assert (entry.user, entry.object_id) == (agent.user, "4101")
    assert hashlib.sha256(content).hexdigest() in entry.change_message


def test_a_shipment_s_evidence_is_for_who_may_see_both(client: Client, ticket: Ticket) -> None:
    nobody = User.objects.create_user("newcomer", is_staff=True)
    client.force_login(nobody)

    assert client.post(of_shipment(4101)).status_code == 403
    with pytest.raises(NotAllowed):
        making.evidence(Shipment.objects.get(), user=nobody)
    assert not LogEntry.objects.exists()


def test_an_unknown_shipment_has_none(desk: Client) -> None:
    assert desk.post(of_shipment(9999)).status_code == 404
