"""What companies are told and see of their shipments."""

from faults.broken import Mutant
from faults.broken.feed import FEED

STATUS = "shipments/event_types/status.py"
VIEWS = "shipments/api/views.py"

SHIPMENTS = (
    *FEED,
    Mutant(
        "tracks-every-company",
        "shipments/api/lookup.py",
        "company.shipments.numbered(",
        "Shipment.objects.numbered(",
        "Whoever knows a tracking number sees another company's parcel.",
    ),
    Mutant(
        "history-backwards",
        "shipments/api/lookup.py",
        'order_by("-occurred_at", "-pk")',
        'order_by("occurred_at", "pk")',
        "A parcel's history reads backwards.",
    ),
    Mutant(
        "forgets-what-is-needed",
        "shipments/pruning.py",
        'stay |= set(asked.values_list("shipment_id", flat=True))',
        'set(asked.values_list("shipment_id", flat=True))',
        "A parcel's history is gone while a ticket about it is open.",
    ),
    Mutant(
        "keeps-nothing-of-live-parcels",
        "shipments/pruning.py",
        "for shipment, heard in heard_of.items() if heard}",
        "for shipment, heard in heard_of.items() if not heard}",
        "What goes on for longer than a month loses how it began.",
    ),
    Mutant(
        "sample-of-another-company",
        "shipments/event_types/samples.py",
        "filter(company=company_id)",
        "all()",
        "A test delivery shows another company's shipment.",
    ),
    Mutant(
        "local-time",
        STATUS,
        "change.occurred_at.astimezone(UTC).strftime",
        "change.occurred_at.strftime",
        "movementDate is hours off.",
    ),
    Mutant(
        "status-not-lower",
        STATUS,
        '"status": statuses.lower(change.status)',
        '"status": statuses.title(change.status)',
        "Receivers do not recognise the status.",
    ),
    Mutant(
        "tests-without-a-limit",
        VIEWS,
        'rate = "send"',
        'rate = "write"',
        "A company sends 6,000 test deliveries a minute to a stranger.",
    ),
    Mutant(
        "tracking-counts-as-writing",
        VIEWS,
        'rate = "read"',
        'rate = "write"',
        "A client that polls is refused at half the promised rate.",
    ),
)
