"""Two writers of one shipment at the same time: the second waits for the first."""

from functools import partial

import pytest

from shipments.locks import hold_shipment
from shipments.models import Incidence, Shipment, TrackingUpdate
from tests import builders as build
from tests.tickets.racing import in_order

pytestmark = pytest.mark.usefixtures("rows_to_keep")

track = partial(build.fact, "tracking", shipment_id=5)


def test_the_second_builds_on_what_the_first_recorded() -> None:
    build.shipment(build.company(), 5)

    in_order(partial(track, status="Shipped"), partial(track, status="Delivered"))

    shipment = Shipment.objects.get()
    assert shipment.status == "Delivered"
    assert shipment.shipped_at is not None
    assert shipment.delivered_at is not None
    assert TrackingUpdate.objects.count() == 2


def test_an_incidence_waits_for_whoever_holds_its_shipment() -> None:
    """Wait, as opening a ticket does, so that neither misses the other."""
    company = build.company()
    build.shipment(company, 5)
    report = partial(build.fact, "incidence", incidence_id=501, shipment_id=5)

    # in_order fails if the second does not wait.
    in_order(partial(hold_shipment, company.pk, 5), report)

    assert Incidence.objects.get().open
