"""Blanks, accents and noise in the platform's texts and amounts create nothing new."""

from pathlib import Path

import pytest

from companies.models import Company
from deliveries.models import Event
from shipments.carriers import carrier_key
from shipments.models import Incidence, Shipment, Surcharge
from tests.shipments.feeding import incidence, ingest, shipment, surcharge, tracking, write

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "status",
    [
        "Delivered ",
        "\tdelivered\n",
        "Delivered\u00a0",
        "\ufeffDelivered",
        "De\u00adlivered\u200b",
        "\u3000DELIVERED\u200d",
    ],
)
def test_blanks_make_no_status_of_their_own(company: Company, tmp_path: Path, status: str) -> None:
    fed = ingest(write(tmp_path / "feed", shipment(5, company.pk), tracking(5, status)))

    assert fed.counts["bad"] == 0
    parcel = Shipment.objects.get(pk=5)
    assert (parcel.status, parcel.delivered_at is not None) == ("Delivered", True)


def test_a_doubled_blank_is_one(company: Company, tmp_path: Path) -> None:
    ingest(
        write(tmp_path / "feed", shipment(5, company.pk), tracking(5, "Out  for \u2003Delivery"))
    )

    assert Shipment.objects.get(pk=5).status == "Out for Delivery"


def test_every_short_text_is_stored_tidy(company: Company, tmp_path: Path) -> None:
    order = {"shop_id": " 7", "order_identifier": 5, "order_number": "1042 ", "order_name": "A  B"}
    fed = ingest(
        write(
            tmp_path / "feed",
            shipment(
                5,
                company.pk,
                carrier_name=" A\u0301cme\u00a0Express ",
                tracking_number=" 1Z 999  AA1 ",
                order=order,
            ),
            tracking(5, "Shipped", location="Leo\u0301n,\u00a0MX ", status_description=" a\r\nb "),
            surcharge(1, 5, surcharge_type="Over  weight", reason=" big ", currency=" MXN"),
            incidence(3, 5, incidence_kind="lost ", description=" x\ty "),
        )
    )

    assert fed.counts["bad"] == 0
    parcel = Shipment.objects.get(pk=5)
    assert (parcel.carrier_name, parcel.tracking_number) == ("Ácme Express", "1Z 999 AA1")
    assert parcel.order == {
        "shop_id": "7",
        "order_identifier": 5,
        "order_number": "1042",
        "order_name": "A B",
    }
    scan = parcel.updates.get()
    assert (scan.location, scan.status_description) == ("León, MX", "a b")
    charge = Surcharge.objects.get()
    assert (charge.surcharge_type, charge.reason, charge.currency) == ("Over weight", "big", "MXN")
    stored = Incidence.objects.get()
    assert (stored.kind, stored.description) == ("lost", "x y")


def test_a_status_that_differs_in_blanks_tells_nothing(company: Company, tmp_path: Path) -> None:
    lines = shipment(5, company.pk), tracking(5, "Shipped"), tracking(5, " Shipped\u00a0")

    fed = ingest(write(tmp_path / "feed", *lines))

    assert fed.counts["changed"] == 2
    assert Event.objects.count() == 0


def test_joiners_inside_of_words_stay(company: Company, tmp_path: Path) -> None:
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    ingest(write(tmp_path / "feed", shipment(5, company.pk, carrier_name=f"{family} ")))

    assert Shipment.objects.get(pk=5).carrier_name == family


@pytest.mark.parametrize("name", ["ACME", "acme ", " a\u200bcme", "acme\u00a0"])
def test_spellings_of_a_carrier_are_one(name: str) -> None:
    assert carrier_key(name) == "acme"


@pytest.mark.parametrize(
    ("amount", "stored"),
    [
        (12.499999999999998, "12.5"),
        (0.1 + 0.2, "0.3"),
        (1234567.1200000001, "1234567.12"),
        (123456789.11999999, "123456789.12"),
        (9.9999, "9.9999"),
        (13, "13"),
    ],
)
def test_noise_of_doubles_is_rounded_away(
    company: Company, tmp_path: Path, amount: float, stored: str
) -> None:
    fed = ingest(write(tmp_path / "feed", shipment(5, company.pk), surcharge(1, 5, amount=amount)))

    assert fed.reasons == []
    assert f"{Surcharge.objects.get().amount.normalize():f}" == stored


@pytest.mark.parametrize("amount", [12.49999, 0.00001, 1e-10, 9999999999.99999])
def test_amount_beyond_rounding_noise_is_a_bad_line(
    company: Company, tmp_path: Path, amount: float
) -> None:
    fed = ingest(write(tmp_path / "feed", shipment(5, company.pk), surcharge(1, 5, amount=amount)))

    (reason,) = fed.reasons
    assert "amount: " in reason
