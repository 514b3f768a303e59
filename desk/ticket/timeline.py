"""Timeline of a ticket's shipment, with the gaps between scans that suggest a loss."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any, NamedTuple

from django.db.models import Case, CharField, F, QuerySet, Value, When
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, Concat
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop, ngettext, pgettext

from core.values.money import money_text
from core.values.spellings import SearchKey
from deliveries.models import Delivery, Event, State
from shipments.labels import tracking_label
from shipments.models import Incidence, Shipment, Surcharge, TrackingUpdate
from tickets.labels import type_label
from tickets.models import Ticket
from webhooks.event_types import registry

MOST_MARKS = 100
MOST_EVENTS = 20
MOST_DELIVERIES = 60
# A parcel in transit is usually scanned every other day.
LONG_SILENCE = timedelta(days=3)
AT_REST = frozenset({"delivered", "canceled", "returned", "lost"})

Row = tuple[str, datetime, str, str, str]
# Names of the kinds; surcharges have the platform's transaction types.
KINDS_OF_MARKS = {
    "scan": gettext_noop("scan"),
    "incidence": gettext_noop("incidence"),
    "ticket": gettext_noop("ticket"),
    "delivery": gettext_noop("delivery"),
    "silence": gettext_noop("silence"),
    "surcharge": gettext_noop("surcharge"),
    "refund": gettext_noop("refund"),
}


class TimelineMark(NamedTuple):
    at: datetime
    kind: str
    title: str
    detail: str = ""
    state: str = ""
    link: int | str | None = None

    @property
    def kind_words(self) -> str:
        kind = KINDS_OF_MARKS.get(self.kind, self.kind)
        return gettext(kind)


def shipment_of_ticket(ticket: Ticket) -> Shipment | None:
    """Return the company's own shipment; another's existence must not show (decision T12)."""
    if ticket.shipment_id is None:
        return None
    own = Shipment.objects.filter(company=ticket.company_id)
    return own.filter(pk=ticket.shipment_id).defer("heard").first()


def timeline(shipment: Shipment, tickets: Iterable[TimelineMark]) -> list[TimelineMark]:
    """Return at most MOST_MARKS marks, newest first; `tickets` are those of related tickets."""
    marks = [*platform_marks(shipment), *tickets, *delivery_marks(shipment)]
    marks += gaps(shipment, [mark for mark in marks if mark.kind == "scan"])
    return sorted(marks, key=lambda mark: mark.at, reverse=True)[:MOST_MARKS]


def platform_marks(shipment: Shipment) -> list[TimelineMark]:
    """Read the scans, charges and incidences that the platform reported, in one query."""
    money = Concat(Cast("amount", CharField()), Value(" "), F("currency"), output_field=CharField())
    incidence = Concat(
        Cast("pk", CharField()),
        Value(": "),
        Case(When(kind="", then=Value(gettext("any incidence"))), default=F("kind")),
        output_field=CharField(),
    )
    scans = mark_rows(
        TrackingUpdate.objects.filter(shipment=shipment).order_by("-occurred_at"),
        kind=Value("scan"),
        at="occurred_at",
        one=F("status"),
        two=F("status_description"),
        three=F("location"),
    )
    charges = mark_rows(
        Surcharge.objects.filter(shipment=shipment).order_by("-created_at"),
        kind=F("transaction_type"),
        at="created_at",
        one=F("surcharge_type"),
        two=money,
        three=F("reason"),
    )
    incidences = mark_rows(
        Incidence.objects.filter(shipment=shipment).order_by("-created_at"),
        kind=Value("incidence"),
        at="created_at",
        one=incidence,
        two=F("description"),
        three=F("open"),
    )
    return [as_mark(*row) for row in scans.union(charges, incidences, all=True)]


def mark_rows(
    rows: QuerySet[Any],
    *,
    kind: Combinable,
    at: str,
    one: Combinable,
    two: Combinable,
    three: Combinable,
) -> QuerySet[Any, Row]:
    """Select the same columns from each table, for a union."""
    annotated = rows.annotate(
        what=Cast(kind, CharField()),
        moment=F(at),
        one=Cast(one, CharField()),
        two=Cast(two, CharField()),
        three=Cast(three, CharField()),
    )
    listed: QuerySet[Any, Row] = annotated.values_list("what", "moment", "one", "two", "three")
    return listed[:MOST_MARKS]


def as_mark(kind: str, at: datetime, one: str, two: str, three: str) -> TimelineMark:
    match kind:
        case "scan":
            return TimelineMark(at, kind, tracking_label(one), join_texts(two, three))
        case "incidence":
            open_ = three == "true"
            state = pgettext("incidence", "open") if open_ else pgettext("incidence", "closed")
            number, _, name = one.partition(": ")
            return TimelineMark(at, kind, f"{number}: {type_label(name)}", two, state)
    amount, _, currency = two.partition(" ")
    return TimelineMark(at, kind, f"{one}: {money_text(Decimal(amount), currency)}", three)


def join_texts(*parts: str) -> str:
    return ", ".join(part for part in parts if part)


def delivery_marks(shipment: Shipment) -> list[TimelineMark]:
    """Read the deliveries of the shipment's latest events to the company's webhooks.

    Two index scans find the rows among hundreds of millions: a delivery has its event's
    creation time, and partitions of weeks that ended earlier are left out.
    """
    number = shipment.tracking_number
    spelled_alike = Event.objects.alias(number_key=SearchKey(F("tracking_number"))).filter(
        company=shipment.company_id, number_key=SearchKey.of(number)
    )
    own = spelled_alike.filter(tracking_number=number).order_by("-id")
    events = {
        pk: (type_id, at)
        for pk, type_id, at, of in own.values_list("pk", "type_id", "created_at", "shipment_id")[
            :MOST_EVENTS
        ]
        if of == shipment.pk
    }
    times = {at for _, at in events.values()}
    deliveries = Delivery.objects.filter(
        webhook__company=shipment.company_id,
        event_id__in=list(events),
        created_at__in=times,
        archived_on__gte=min(times, default=timezone.now()).date(),
    ).order_by("-event_id")
    columns = ("id", "created_at", "event_id", "webhook_id", "state", "attempts")
    return [
        delivery_mark(*row, type_id=events[row[2]][0])
        for row in deliveries.values_list(*columns)[:MOST_DELIVERIES]
    ]


def delivery_mark(
    pk: object,
    at: datetime,
    event_id: object,
    webhook_id: int,
    state: int,
    attempts: int,
    *,
    type_id: int,
) -> TimelineMark:
    title = gettext("%(event)s to webhook %(webhook)s")
    detail = ngettext("%(count)d attempt", "%(count)d attempts", attempts)
    return TimelineMark(
        at,
        "delivery",
        title % {"event": registry.name(type_id), "webhook": webhook_id},
        detail % {"count": attempts},
        str(State(state).label),
        str(pk),
    )


def gaps(shipment: Shipment, scans: Iterable[TimelineMark]) -> list[TimelineMark]:
    """Return the gaps between scans; while the parcel is in transit also the one until now."""
    times = sorted(mark.at for mark in scans)
    if not times:
        return []
    if shipment.status.lower() not in AT_REST:
        times.append(timezone.now())
    return [
        TimelineMark(later, "silence", silence_text((later - earlier).days))
        for earlier, later in pairwise(times)
        if later - earlier >= LONG_SILENCE
    ]


def silence_text(days: int) -> str:
    return ngettext("no scan for %(days)d day", "no scan for %(days)d days", days) % {"days": days}
