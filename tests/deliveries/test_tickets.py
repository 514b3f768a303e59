"""Events of tickets: in order within a ticket, in the log, and sent again."""

import json

import pytest
from rest_framework.test import APIClient

from companies.models import Company
from deliveries import publishing
from deliveries.engine.signing import sign
from deliveries.models import Delivery, State
from tests import builders as build
from tests.sending import deliver, make_due
from tickets.changes.ticket_updated import TICKET_UPDATED
from tools.faults.receiver import Answer, Received, Receiver
from webhooks.models import Webhook
from webhooks.targets import Policy


@pytest.fixture
def webhook(company: Company, receiver: Receiver) -> Webhook:
    return build.webhook(company, TICKET_UPDATED.id, url=receiver.url)


def publish(company: Company, *tickets: int) -> None:
    """Publish an event of each of these tickets, numbered from 0; ticket 41 is about shipment 7."""
    publishing.publish(
        [
            build.news(
                company,
                7 if ticket == 41 else None,
                type=TICKET_UPDATED.id,
                tracking_number="TRACK7" if ticket == 41 else "",
                ticket_id=ticket,
                body=str(number).encode(),
            )
            for number, ticket in enumerate(tickets)
        ]
    )


def test_events_of_a_ticket_wait_for_each_other_and_for_no_other(
    company: Company, webhook: Webhook, receiver: Receiver, loopback: Policy
) -> None:
    refusing = {b"0"}
    receiver.answer = lambda received: Answer(500 if received.body in refusing else 200)
    publish(company, 41, 41, 42, 41)

    deliver(loopback)
    assert [received.body for received in receiver.log] in ([b"0", b"2"], [b"2", b"0"])

    refusing.clear()
    make_due()
    deliver(loopback)
    assert [received.body for received in receiver.log][2:] == [b"0", b"1", b"3"]
    of_41 = [one for one in receiver.log if one.body != b"2"]
    sequences = [int(one.headers["X-Webhook-Sequence"]) for one in of_41]
    assert sequences == sorted(sequences)
    assert len(set(sequences)) == 3


def test_ticket_events_are_signed_with_their_type(
    company: Company, webhook: Webhook, receiver: Receiver, loopback: Policy
) -> None:
    publish(company, 41)

    deliver(loopback)

    (received,) = receiver.log
    assert received.headers["X-Webhook-Event"] == "ticket.updated"
    timestamp = int(received.headers["X-Webhook-Timestamp"])
    assert received.headers["X-Webhook-Signature"] == sign(
        webhook.secret, timestamp, "ticket.updated", received.body
    )


def test_the_log_names_the_ticket_and_its_shipment(
    api: APIClient, company: Company, webhook: Webhook
) -> None:
    publish(company, 41, 42)
    address = f"/webhooks/{webhook.pk}/deliveries"

    newest, oldest = api.get(address).json()["data"]
    of_parcel = api.get(address, {"tracking_number": "TRACK7"}).json()["data"]

    assert (newest["ticket_id"], newest["shipment_id"], newest["tracking_number"]) == (42, None, "")
    assert (oldest["ticket_id"], oldest["shipment_id"], oldest["tracking_number"]) == (
        41,
        7,
        "TRACK7",
    )
    assert oldest["event"] == "ticket.updated"
    assert of_parcel == [oldest]
    assert api.get(f"/deliveries/{oldest['id']}").json()["data"]["ticket_id"] == 41


@pytest.mark.parametrize("way", ["recover", "redeliver"])
def test_given_up_events_are_sent_again_in_order(
    api: APIClient,
    company: Company,
    webhook: Webhook,
    receiver: Receiver,
    loopback: Policy,
    way: str,
) -> None:
    publish(company, 41, 41, 41)
    Delivery.objects.update(state=State.GIVEN_UP, archived_on="2026-01-01")

    if way == "recover":
        answer = api.post(f"/webhooks/{webhook.pk}/recover", {"since": "2026-01-01"})
        assert answer.json() == {"data": {"redelivered": 3}}
    else:
        for delivery in Delivery.objects.order_by("event_id"):
            assert api.post(f"/deliveries/{delivery.pk}/redeliver").status_code == 200
    deliver(loopback)

    assert [received.body for received in receiver.log] == [b"0", b"1", b"2"]


def test_a_ticket_s_day_arrives_as_it_went(
    api: APIClient, company: Company, webhook: Webhook, receiver: Receiver, loopback: Policy
) -> None:
    id = api.post("/company/tickets", {"type_id": 2}).json()["id"]
    api.post(f"/company/tickets/{id}/comments", {"comment": "Hello?"})
    api.put(f"/company/tickets/{id}", {"ticket_status_id": 10})

    deliver(loopback)

    def change(received: Received) -> tuple[str, int]:
        data = json.loads(received.body)["data"]
        return data["change"], data["ticket_status_id"]

    assert [change(each) for each in receiver.log] == [("opened", 1), ("replied", 1), ("moved", 10)]
