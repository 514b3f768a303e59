"""Lookup of a company's shipments (decision W25)."""

from collections.abc import Sequence

from django.db.models import F, Prefetch

from companies.models import Company
from shipments.models import Shipment, TrackingUpdate


def find_shipments(company: Company, numbers: Sequence[str]) -> list[Shipment]:
    """Find the company's shipments with these tracking numbers, in their order, with `updates`.

    Blanks, hyphens and case of a number make no difference. Duplicate numbers count once; unknown
    numbers and those of other companies are left out. Takes two queries.
    """
    newest_first = TrackingUpdate.objects.order_by("-occurred_at", "-pk")
    shipments = company.shipments.numbered(numbers).order_by(F("place"), "pk")
    return list(shipments.prefetch_related(Prefetch("updates", queryset=newest_first)))
