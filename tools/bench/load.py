"""Companies, webhooks and events for measurements."""

from collections.abc import Sequence

from django.db import transaction

from companies.models import Company
from deliveries import publishing
from deliveries.publishing import News
from shipments.event_types.status import TRACKING_SIMPLE
from tools.bench.bodies import body
from webhooks import services
from webhooks.models import Webhook

PUBLISH_AT_ONCE = 500


@transaction.atomic
def webhooks(urls: Sequence[str], companies: int | None = None) -> list[Webhook]:
    """Create a webhook for each URL, spread over N `companies`.

    Without `companies` each has one of its own, so that an event is one delivery.
    """
    owners = [
        Company.objects.create(name=f"Company {number}") for number in range(companies or len(urls))
    ]
    # Insert rows directly: registration limits the number of a company's webhooks.
    return [
        Webhook.objects.create(
            company=owners[number % len(owners)],
            type_id=TRACKING_SIMPLE.id,
            url=url,
            secret=services.make_secret(),
        )
        for number, url in enumerate(urls)
    ]


def news(company_id: int, number: int) -> News:
    """Build an event of a shipment of its own."""
    return News(
        company_id=company_id,
        type=TRACKING_SIMPLE.id,
        shipment_id=number + 1,
        tracking_number=f"TRACK{number + 1:08}",
        body=body(number),
        ticket_id=None,
    )


def publish(company_ids: Sequence[int], size: int) -> int:
    """Publish `size` events, the companies in turn; return the number of deliveries."""
    deliveries = 0
    for start in range(0, size, PUBLISH_AT_ONCE):
        numbers = range(start, min(start + PUBLISH_AT_ONCE, size))
        deliveries += publishing.publish(
            [news(company_ids[number % len(company_ids)], number) for number in numbers]
        )
    return deliveries
