"""Events from the platform's feed to a receiver, through the processes that production runs."""

import json

import pytest

from companies.models import Company
from tools.faults import scenarios
from tools.faults.feeding import Feed
from tools.faults.receiver import Receiver
from tools.faults.service import Service
from webhooks.event_types import registry


@pytest.mark.django_db(transaction=True)
def test_what_the_feed_says_arrives_once_at_all_types(
    service: Service, acme: Company, receiver: Receiver
) -> None:
    feed = Feed(acme.pk, shipments=100, updates=500, surcharges=25)

    outcome = scenarios.feed(service, acme, receiver, feed)

    assert json.loads(outcome["first_ingest"]) == {
        "read": 625,
        "changed": 625,
        "events": 525,
        "bad": 0,
        "known": 0,
    }
    assert outcome["received"] == outcome["expected"]
    signed = [each.id for each in registry if each.signed]
    # Shipment events have these types.
    assert [id for id in signed if outcome["expected"][id]] == [3, 4, 5]
    assert outcome["verified"] == {id: outcome["expected"][id] for id in signed}
    assert outcome["out_of_order"] == 0
    assert json.loads(outcome["second_ingest"]) == {
        "read": 625,
        "changed": 0,
        "events": 0,
        "bad": 0,
        "known": 625,
    }
