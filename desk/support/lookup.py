"""Search for missing events: deliveries by whatever a company knows, each through an index."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import F
from django.utils.translation import gettext

from companies.models import Company
from core.data.statements import read_rows
from core.values.spellings import with_numbers
from deliveries.models import Delivery, Event, HeldHost
from deliveries.monitoring import log
from shipments.models import Shipment
from webhooks.models import Webhook

MOST_EVENTS = 1_000
MOST_DELIVERIES = 1_000
NEWEST = 25
SECRETS = ("auth_token", "secret", "next_secret")

# Newest deliveries over several webhooks: the newest of each, through the index of its log.
NEWEST_OF_MANY = """
SELECT found.id FROM unnest(%(webhooks)s::bigint[]) AS one(id) CROSS JOIN LATERAL (
  SELECT id, created_at, event_id FROM deliveries_delivery WHERE webhook_id = one.id
  ORDER BY created_at DESC, event_id DESC LIMIT %(most)s) AS found
ORDER BY found.created_at DESC, found.event_id DESC LIMIT %(most)s
"""


@dataclass
class EventMatches:
    """Matching deliveries (`cut` if there are more), and explanations of what is missing."""

    company: Company | None = None
    deliveries: list[Delivery] = field(default_factory=list)
    webhooks: list[Webhook] = field(default_factory=list)
    explanations: list[str] = field(default_factory=list)
    cut: bool = False
    # The shipment in question, if it is known.
    shipment: Shipment | None = None


def find_events(
    *,
    company: Company | None = None,
    shipment_id: int | None = None,
    tracking_number: str = "",
    delivery_id: UUID | None = None,
    request_id: str = "",
    type_id: int | None = None,
) -> EventMatches:
    """Find deliveries by the first criterion that is set, newest first; `company` narrows it."""
    if delivery_id is not None:
        return by_id(delivery_id, company)
    if request_id:
        return by_request(request_id, company, type_id)
    if shipment_id is not None:
        shipment = Shipment.objects.select_related("company").filter(pk=shipment_id).first()
        if shipment is None or company not in (None, shipment.company):
            text = gettext("The platform has not reported a shipment %(shipment)d.")
            if company:
                text = gettext(
                    "The platform has not reported a shipment %(shipment)d of %(company)s."
                )
            text %= {"shipment": shipment_id, "company": company}
            return EventMatches(company, explanations=[text])
        matches = by_tracking_number(shipment.tracking_number, shipment.company, type_id)
        matches.shipment = shipment
        return matches
    if tracking_number:
        matches = by_tracking_number(tracking_number, company, type_id)
        matches.shipment = shipment_called(tracking_number, matches.company)
        return matches
    if company is None:
        return EventMatches(explanations=[gettext("Select a company.")])
    webhooks = webhooks_of(company)
    chosen = [one.pk for one in webhooks if type_id in (None, one.type_id)]
    return add_explanations(EventMatches(company, newest_deliveries(chosen), webhooks), type_id)


def shipment_called(tracking_number: str, company: Company | None) -> Shipment | None:
    """Return the company's newest shipment with this tracking number."""
    if company is None:
        return None
    shipments = Shipment.objects.filter(company=company).numbered([tracking_number])
    return shipments.order_by(F("place"), "-pk").first()


def by_id(delivery_id: UUID, company: Company | None) -> EventMatches:
    delivery = Delivery.objects.select_related("webhook__company").filter(pk=delivery_id).first()
    if delivery is None or company not in (None, delivery.webhook.company):
        text = gettext("There is no delivery %(delivery)s, or it has been deleted.")
        return EventMatches(company, explanations=[text % {"delivery": delivery_id}])
    matches = EventMatches(delivery.webhook.company, [delivery], [delivery.webhook])
    (row,) = log.delivery_rows([delivery])
    if row["shipment_id"] is not None:
        own = Shipment.objects.filter(pk=row["shipment_id"], company=matches.company)
        matches.shipment = own.first()
    return matches


def by_request(request_id: str, company: Company | None, type_id: int | None) -> EventMatches:
    """Find the deliveries that a request caused, of all companies that got some.

    A batch of the feed may cause a million events: without an order, reading stops at MOST_EVENTS.
    """
    events = Event.objects.defer("body").filter(request_id=request_id)
    some = list(events[: MOST_EVENTS + 1])
    chosen = [
        event
        for event in some[:MOST_EVENTS]
        if (company is None or event.company_id == company.pk) and type_id in (None, event.type_id)
    ]
    company_ids = {event.company_id for event in chosen}
    webhooks = Webhook.objects.filter(company__in=company_ids).defer(*SECRETS).order_by("pk")
    deliveries = deliveries_of(chosen, [one.pk for one in webhooks])
    matches = EventMatches(company, deliveries[:MOST_DELIVERIES])
    if company is None and len(company_ids) == 1:
        matches.company = Company.objects.filter(pk__in=company_ids).first()
    if matches.company:
        matches.webhooks = webhooks_of(matches.company)
    matches.cut = len(some) > MOST_EVENTS or len(deliveries) > MOST_DELIVERIES
    if not chosen:
        text = gettext(
            "No event that request %(request)s caused is stored: it caused none, they are past"
            " their retention, or no webhook of the type was registered."
        )
        matches.explanations.append(text % {"request": request_id})
    return matches


def by_tracking_number(
    tracking_number: str, company: Company | None, type_id: int | None
) -> EventMatches:
    events = events_of(tracking_number, company)
    cut = len(events) > MOST_EVENTS
    if company is None and events:
        company = Company.objects.filter(pk=events[0].company_id).first()
    if company is None:
        text = gettext("No event of %(number)s is stored.")
        return EventMatches(explanations=[text % {"number": tracking_number}])
    chosen = [
        event
        for event in events[:MOST_EVENTS]
        if event.company_id == company.pk and type_id in (None, event.type_id)
    ]
    webhooks = webhooks_of(company)
    deliveries = deliveries_of(chosen, [one.pk for one in webhooks])
    matches = EventMatches(company, deliveries[:MOST_DELIVERIES], webhooks)
    matches.cut = cut or len(deliveries) > MOST_DELIVERIES
    if not chosen:
        text = gettext(
            "No event of %(number)s is stored: nothing has happened to it, it is past its"
            " retention, or no webhook of the type was registered when it happened."
        )
        matches.explanations.append(text % {"number": tracking_number})
    return add_explanations(matches, type_id)


def add_explanations(matches: EventMatches, type_id: int | None) -> EventMatches:
    present = [one for one in matches.webhooks if one.deleted_at is None]
    fitting = [one for one in present if type_id in (None, one.type_id)]
    if not fitting:
        text = gettext("%(company)s has no webhook.")
        if type_id is not None:
            text = gettext("%(company)s has no webhook of this type.")
        matches.explanations.append(text % {"company": matches.company})
    elif not any(one.active for one in fitting):
        text = gettext("All matching webhooks are paused, so their deliveries are waiting.")
        matches.explanations.append(text)
    holds = HeldHost.objects.in_force().in_bulk()
    for host in sorted({one.host for one in fitting} & holds.keys()):
        text = gettext("An operator holds %(host)s, so deliveries there are waiting.")
        matches.explanations.append(text % {"host": host})
    return matches


def events_of(tracking_number: str, company: Company | None) -> list[Event]:
    """Return the events newest first, without bodies; MOST_EVENTS + 1 of them if there are more."""
    events = with_numbers(Event.objects.defer("body"), [tracking_number])
    if company is not None:
        events = events.filter(company=company)
    return list(events.order_by("-id")[: MOST_EVENTS + 1])


def deliveries_of(events: Iterable[Event], webhook_ids: list[int]) -> list[Delivery]:
    """Return the deliveries newest first; MOST_DELIVERIES + 1 of them if there are more."""
    # A delivery has its event's creation time, by which the index of the log finds it.
    events = list(events)
    deliveries = Delivery.objects.filter(
        webhook_id__in=webhook_ids,
        created_at__in={event.created_at for event in events},
        event_id__in=[event.pk for event in events],
    )
    return list(deliveries.order_by("-created_at", "-event_id", "id")[: MOST_DELIVERIES + 1])


def newest_deliveries(webhook_ids: list[int]) -> list[Delivery]:
    rows = read_rows(NEWEST_OF_MANY, {"webhooks": webhook_ids, "most": NEWEST})
    ids = [id for (id,) in rows]
    deliveries = Delivery.objects.in_bulk(ids)
    return [deliveries[id] for id in ids if id in deliveries]


def webhooks_of(company: Company) -> list[Webhook]:
    """Return a company's webhooks without secrets; deleted ones too, since they keep their log."""
    return list(company.webhooks.defer(*SECRETS).order_by("pk"))
