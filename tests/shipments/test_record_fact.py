import pytest
from django.db import transaction

from companies.models import Company
from deliveries.models import Event
from shipments.feed import recording
from shipments.feed.parsing import BadLine
from shipments.models import Shipment, TrackingUpdate
from tests import builders as build


@pytest.fixture
def parcel(company: Company) -> Shipment:
    build.webhook(company)
    recording.record_fact(
        "shipment",
        shipment_id=5,
        company_id=company.pk,
        tracking_number="TEST0000005",
        carrier_name="acme",
    )
    return Shipment.objects.get(pk=5)


def test_a_single_fact_comes_in_by_the_feeds_door(parcel: Shipment) -> None:
    outcome = recording.record_fact("tracking", shipment_id=5, status="Lost")
    again = recording.record_fact("tracking", shipment_id=5, status="Lost")

    assert (outcome.changed, outcome.events) == (1, 1)
    assert (again.changed, again.events) == (0, 0)
    parcel.refresh_from_db()
    assert parcel.status == "Lost"
    assert Event.objects.count() == 1


@pytest.mark.parametrize(
    ("fact", "reason"),
    [
        ({"shipment_id": 5}, "status: missing"),
        ({"shipment_id": 6, "status": "Lost"}, "shipment_id: there is no shipment 6"),
    ],
)
def test_a_bad_fact_is_refused_with_the_reason(parcel: Shipment, fact: dict, reason: str) -> None:
    with pytest.raises(BadLine, match=reason):
        recording.record_fact("tracking", **fact)

    assert not TrackingUpdate.objects.exists()
    assert not Event.objects.exists()


def test_a_fact_is_gone_with_the_transaction_it_belongs_to(parcel: Shipment) -> None:
    with transaction.atomic():
        recording.record_fact("tracking", shipment_id=5, status="Lost")
        transaction.set_rollback(True)

    assert Shipment.objects.get(pk=5).status == "Created"
    assert not Event.objects.exists()
