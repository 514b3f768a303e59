"""Deliveries that engine loops have claimed and not recorded, read from the rows."""

from collections.abc import Sequence

from django.db.models import QuerySet

from deliveries.models import Delivery, Loop, TakenLane
from tools.faults.ledger import Event, event_in
from tools.faults.processes import group_of
from tools.faults.service import Service


def claimed(loops: Sequence[Loop] | None = None) -> set[Event]:
    """Return events with deliveries claimed by these loops, or by any that is not lost."""
    if loops is None:
        loops = list(Loop.objects.filter(lost=False))
    return events_of(Delivery.objects.open().filter(claimed_by__in=[loop.pk for loop in loops]))


def are_recorded(events: set[Event]) -> bool:
    """Return True if none of the events has an open delivery."""
    return events.isdisjoint(events_of(Delivery.objects.open()))


def events_of(deliveries: QuerySet[Delivery]) -> set[Event]:
    return {event_in(bytes(body)) for body in deliveries.values_list("event__body", flat=True)}


def loops_of(service: Service, name: str) -> list[Loop]:
    """Return the engine loops of one worker."""
    return [
        loop
        for loop in Loop.objects.filter(lost=False)
        if group_of(loop.process_id) == service.processes[name].pid
    ]


def holds_lanes(loops: Sequence[Loop]) -> bool:
    return TakenLane.objects.filter(loop_id__in=[loop.pk for loop in loops]).exists()
