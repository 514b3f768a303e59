"""Events to companies about changes of their tickets (decision N5).

History and comments are each written in one place, which notes their news. A service that changes
tickets is decorated with `ticket_service`: the news of its run become one event per ticket, in the
transaction of the change, while the ticket is locked. Every write is therefore reported, and a
request causes one event however many rows it writes.
"""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import datetime
from functools import wraps
from typing import ParamSpec, TypeVar

from django.db import transaction
from django.utils import timezone

from deliveries import publishing
from deliveries.publishing import News, encode
from tickets.changes.actors import Actor
from tickets.changes.notifications import notify_followers
from tickets.changes.requested_documents import requested_documents_of
from tickets.changes.ticket_updated import TICKET_UPDATED, TicketStory, tracking_number_of
from tickets.history_codes import TicketChange
from tickets.models import Comment, Ticket
from tickets.statuses import TERMINAL, By
from webhooks.envelope import event_time
from webhooks.event_types import EventType, Payload

P = ParamSpec("P")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class PendingEvent:
    """Pending event of a ticket: what changed, and by whom and when it changed first."""

    story: TicketStory
    at: datetime
    actor: Actor


# Pending events by ticket; None outside of a `ticket_service`.
unsent: ContextVar[dict[int, PendingEvent] | None] = ContextVar("unsent", default=None)


def ticket_service(service: Callable[P, Result]) -> Callable[P, Result]:
    """Run a service that changes tickets in a transaction, and publish its events at the end.

    Nested services publish with the outermost one.
    """

    @wraps(service)
    def publishing_service(*args: P.args, **kwargs: P.kwargs) -> Result:
        outer = unsent.get()
        mine = {} if outer is None else dict(outer)
        mark = unsent.set(mine)
        try:
            with transaction.atomic():
                result = service(*args, **kwargs)
                if outer is None:
                    publish_news()
        finally:
            unsent.reset(mark)
        if outer is not None:
            outer.clear()
            outer.update(mine)
        return result

    return publishing_service


def rehearse(service: Callable[[], object]) -> None:
    """Run a service that changes tickets for its refusals only, and roll everything back."""
    mark = unsent.set({})
    try:
        with transaction.atomic():
            service()
            transaction.set_rollback(True)
    finally:
        unsent.reset(mark)


def note_news(
    ticket: Ticket,
    actor: Actor,
    change: TicketChange,
    *,
    previous: int | None = None,
    comment: Comment | None = None,
) -> None:
    """Note a change of a locked ticket, whose status was `previous`, for the company's event.

    Of several changes the event has the weightiest, and the last comment. Raises RuntimeError
    outside of a `ticket_service`.
    """
    pending = unsent.get()
    if pending is None:
        raise RuntimeError("Only a `ticket_service` may change a ticket (tickets.changes.news).")
    if (earlier := pending.get(ticket.pk)) is not None:
        first = earlier.story
        weightiest = min(first.change, change, key=list(TicketChange).index)
        story = replace(first, ticket=ticket, change=weightiest, comment=comment or first.comment)
        pending[ticket.pk] = replace(earlier, story=story)
        return
    before = previous if change in (TicketChange.OPENED, TicketChange.MOVED) else ticket.status
    story = TicketStory(ticket=ticket, change=change, by=actor.by, previous=before, comment=comment)
    pending[ticket.pk] = PendingEvent(story, timezone.now(), actor)


def publish_news() -> None:
    """Publish the pending events; services call it before a last step that makes others wait."""
    pending = unsent.get() or {}
    while pending:
        event = pending.pop(next(iter(pending)))
        if concerns_followers(event.story):
            notify_followers(event.story.ticket, event.actor)
        publish_story(event)


def concerns_followers(story: TicketStory) -> bool:
    """Return whether the company answered, or the ticket or its appeal was decided."""
    if story.by == By.COMPANY:
        return story.change != TicketChange.OPENED
    decided = story.change == TicketChange.MOVED and story.ticket.status in TERMINAL
    return decided or story.change == TicketChange.APPEAL_DECIDED


def publish_story(event: PendingEvent) -> None:
    story = event.story

    def payload(at: datetime, tracking_number: str | None) -> Payload:
        requested = requested_documents_of(story.ticket)
        return TICKET_UPDATED.payload(
            story, at, tracking_number=tracking_number, requested=requested
        )

    opens = story.change == TicketChange.OPENED
    publish_of_ticket(TICKET_UPDATED, story.ticket, event.at, payload, opens=opens)


def publish_of_ticket(
    event_type: EventType,
    ticket: Ticket,
    at: datetime,
    payload: Callable[[datetime, str | None], Payload],
    *,
    opens: bool = False,
) -> None:
    """Publish an event of a locked ticket for a change `at`; all its events are published here.

    `payload` gets the event's `created_at`, which is later than that of the ticket's previous
    event (decision N2), and the tracking number. `opens` marks the ticket's first event. If no
    webhook of the company listens, this costs one query and no write.
    """
    if not publishing.has_listener(ticket.company_id, event_type.id):
        return
    tracking_number = tracking_number_of(ticket)
    news = News(
        company_id=ticket.company_id,
        type=event_type.id,
        shipment_id=ticket.shipment_id,
        tracking_number=tracking_number or "",
        body=encode(payload(set_event_time(ticket, at, opens=opens), tracking_number)),
        ticket_id=ticket.pk,
    )
    publishing.publish([news])


def set_event_time(ticket: Ticket, at: datetime, *, opens: bool) -> datetime:
    now = timezone.now()
    if opens:
        # The first event has the ticket's own time, which needs no column.
        return event_time(ticket.created_at, now, None)
    ticket.last_event_at = event_time(at, now, ticket.last_event_at or ticket.created_at)
    ticket.save(update_fields=["last_event_at"])
    return ticket.last_event_at
