"""What happened to a ticket's shipment, in one strip, with the gaps that tell of a loss."""

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

SHOWN = 100
MOST_EVENTS = 20
MOST_DELIVERIES = 60
# A parcel that is on its way is scanned every other day.
LONG_SILENCE = timedelta(days=3)
AT_REST = frozenset({"delivered", "canceled", "returned", "lost"})

Row = tuple[str, datetime, str, str, str]
# Kinds of marks; surcharges have those of the platform.
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
    """Only the company's own: another one's must not even show that it exists (decision T12)."""
    if ticket.shipment_id is None:
        return None
    own = Shipment.objects.filter(company=ticket.company_id)
    return own.filter(pk=ticket.shipment_id).defer("heard").first()


def timeline(shipment: Shipment, tickets: Iterable[TimelineMark]) -> list[TimelineMark]:
    """Newest first, SHOWN at most; `tickets` are the marks of others about the shipment."""
    marks = [*platform_marks(shipment), *tickets, *delivery_marks(shipment)]
    marks += gaps(shipment, [mark for mark in marks if mark.kind == "scan"])
    return sorted(marks, key=lambda mark: mark.at, reverse=True)[:SHOWN]


def platform_marks(shipment: Shipment) -> list[TimelineMark]:
    """Scans, money and incidences, as the platform told them, in one query."""
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
    found: QuerySet[Any],
    *,
    kind: Combinable,
    at: str,
    one: Combinable,
    two: Combinable,
    three: Combinable,
) -> QuerySet[Any, Row]:
    """The same columns from each table, so that a union can take them together."""
    annotated = found.annotate(
        what=Cast(kind, CharField()),
        moment=F(at),
        one=Cast(one, CharField()),
        two=Cast(two, CharField()),
        three=Cast(three, CharField()),
    )
    listed: QuerySet[Any, Row] = annotated.values_list("what", "moment", "one", "two", "three")
    return listed[:SHOWN]


def as_mark(kind: str, at: datetime, one: str, two: str, three: str) -> TimelineMark:
    match kind:
        case "scan":
            return TimelineMark(at, kind, tracking_label(one), union_sql(two, three))
        case "incidence":
            open_ = three == "true"
            state = pgettext("incidence", "open") if open_ else pgettext("incidence", "closed")
            number, _, name = one.partition(": ")
            return TimelineMark(at, kind, f"{number}: {type_label(name)}", two, state)
    amount, _, currency = two.partition(" ")
    return TimelineMark(at, kind, f"{one}: {money_text(Decimal(amount), currency)}", three)


def union_sql(*parts: str) -> str:
    return ", ".join(part for part in parts if part)


def delivery_marks(shipment: Shipment) -> list[TimelineMark]:
    """What the company's webhooks got of its latest events, in two steps through indexes.

    A delivery is as old as its event, and ends no earlier: with the log's index, and weeks left
    out that ended before, the rows are found among hundreds of millions.
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
    found = Delivery.objects.filter(
        webhook__company=shipment.company_id,
        event_id__in=list(events),
        created_at__in=times,
        archived_on__gte=min(times, default=timezone.now()).date(),
    ).order_by("-event_id")
    columns = ("id", "created_at", "event_id", "webhook_id", "state", "attempts")
    return [
        delivery_mark(*row, type_id=events[row[2]][0])
        for row in found.values_list(*columns)[:MOST_DELIVERIES]
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
    sent = gettext("%(event)s to webhook %(webhook)s")
    tried = ngettext("%(count)d attempt", "%(count)d attempts", attempts)
    return TimelineMark(
        at,
        "delivery",
        sent % {"event": registry.name(type_id), "webhook": webhook_id},
        tried % {"count": attempts},
        str(State(state).label),
        str(pk),
    )


def gaps(shipment: Shipment, scans: Iterable[TimelineMark]) -> list[TimelineMark]:
    """The gaps between scans, and from the last one to now while the parcel is on its way."""
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
