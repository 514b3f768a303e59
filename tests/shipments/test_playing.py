"""A company plays the platform for its own shipments, and for nobody else's."""

import pytest

from companies.models import Company
from shipments import sandbox
from shipments.models import Incidence, Shipment, Surcharge, TrackingUpdate
from tests import builders as build


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("tracking", {"status": "Delivered"}),
        (
            "surcharge",
            {
                "surcharge_type": "Overweight",
                "amount": 12.5,
                "currency": "MXN",
                "transaction_type": "surcharge",
            },
        ),
        ("incidence", {"incidence_kind": "lost"}),
    ],
)
def test_event_of_another_company_s_shipment_is_refused(
    company: Company, birch: Company, kind: str, fields: dict
) -> None:
    own, other = build.shipment(company, 1), build.shipment(birch, 2)

    with pytest.raises(Shipment.DoesNotExist):
        sandbox.play_event(company, other.pk, kind, fields)

    models = (TrackingUpdate, Surcharge, Incidence)
    assert not any(model.objects.exists() for model in models)
    assert sandbox.play_event(company, own.pk, kind, fields).changed
    assert {row.shipment_id for model in models for row in model.objects.all()} <= {own.pk}


def test_shipment_of_another_company_keeps_its_id(company: Company, birch: Company) -> None:
    other = build.shipment(birch, 2, tracking_number="THEIRS")

    with pytest.raises(sandbox.IdTaken):
        sandbox.play_shipment(company, {"shipment_id": other.pk, "tracking_number": "OURS"})

    other.refresh_from_db()
    assert (other.company_id, other.tracking_number) == (birch.pk, "THEIRS")
    assert sandbox.play_shipment(company, {}).company_id == company.pk
