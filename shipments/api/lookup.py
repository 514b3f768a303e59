"""What a company may read of its shipments (decision W25)."""

from collections.abc import Sequence

from django.db.models import Prefetch

from companies.models import Company
from shipments.models import Shipment, TrackingUpdate


def find_shipments(company: Company, numbers: Sequence[str]) -> list[Shipment]:
    """The company's shipments with these tracking numbers, in the order given, with `updates`.

    A number given twice counts once. Unknown numbers and those of other companies are left out.
    Always two queries.
    """
    place = {number: at for at, number in reversed([*enumerate(numbers)])}
    newest_first = TrackingUpdate.objects.order_by("-occurred_at", "-pk")
    found = company.shipments.filter(tracking_number__in=place).prefetch_related(
        Prefetch("updates", queryset=newest_first)
    )
    return sorted(found, key=lambda shipment: (place[shipment.tracking_number], shipment.pk))
