"""What a company may read of its shipments (decision W25)."""

from collections.abc import Sequence

from django.db.models import F, Prefetch

from companies.models import Company
from shipments.models import Shipment, TrackingUpdate


def find_shipments(company: Company, numbers: Sequence[str]) -> list[Shipment]:
    """The company's shipments with these tracking numbers, in the order given, with `updates`.

    Blanks, hyphens and case of a number make no difference. A number given twice counts once;
    unknown numbers and those of other companies are left out. Always two queries.
    """
    newest_first = TrackingUpdate.objects.order_by("-occurred_at", "-pk")
    found = company.shipments.numbered(numbers).order_by(F("place"), "pk")
    return list(found.prefetch_related(Prefetch("updates", queryset=newest_first)))
