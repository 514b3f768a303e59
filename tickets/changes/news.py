"""What happens to tickets is told to their companies (decision N5).

History and comments are written in one place each, which notes what is news of them. A service
that changes tickets is `telling`: what was noted while it ran makes one event for each ticket, in
the transaction of the change, while its ticket is held. So no write can go untold, and one request
makes one event however many rows it writes.
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

Given = ParamSpec("Given")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Noted:
    """What is going to be told of a ticket, who did the first of it, and when."""

    story: TicketStory
    at: datetime
    actor: Actor


# By ticket. None: no service is telling.
untold: ContextVar[dict[int, Noted] | None] = ContextVar("untold", default=None)


def telling(service: Callable[Given, Result]) -> Callable[Given, Result]:
    """Run a service that changes tickets in a transaction, and tell before it ends.

    One that another of them calls is a part of that one.
    """

    @wraps(service)
    def told(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        outer = untold.get()
        mine = {} if outer is None else dict(outer)
        mark = untold.set(mine)
        try:
            with transaction.atomic():
                result = service(*args, **kwargs)
                if outer is None:
                    tell_news()
        finally:
            untold.reset(mark)
        if outer is not None:
            outer.clear()
            outer.update(mine)
        return result

    return told


def rehearse(service: Callable[[], object]) -> None:
    """Run a service that changes tickets for its refusals alone: nothing stays, and none hears."""
    mark = untold.set({})
    try:
        with transaction.atomic():
            service()
            transaction.set_rollback(True)
    finally:
        untold.reset(mark)


def note_news(
    ticket: Ticket,
    actor: Actor,
    change: TicketChange,
    *,
    was: int | None = None,
    comment: Comment | None = None,
) -> None:
    """Have a held ticket's company told of this. `was`: the status before, of a move.

    Of several the weightiest counts, and the last comment. Raises RuntimeError where no service
    is `telling`.
    """
    noted = untold.get()
    if noted is None:
        raise RuntimeError("What changes a ticket must be `telling` (tickets.changes.news).")
    if (known := noted.get(ticket.pk)) is not None:
        first = known.story
        weightiest = min(first.change, change, key=list(TicketChange).index)
        story = replace(first, ticket=ticket, change=weightiest, comment=comment or first.comment)
        noted[ticket.pk] = replace(known, story=story)
        return
    before = was if change in (TicketChange.OPENED, TicketChange.MOVED) else ticket.status
    story = TicketStory(ticket=ticket, change=change, by=actor.by, was=before, comment=comment)
    noted[ticket.pk] = Noted(story, timezone.now(), actor)


def tell_news() -> None:
    """Tell what is noted now. Services whose last step makes others wait tell before it."""
    noted = untold.get() or {}
    while noted:
        told = noted.pop(next(iter(noted)))
        if concerns_followers(told.story):
            notify_followers(told.story.ticket, told.actor)
        publish_story(told)


def concerns_followers(story: TicketStory) -> bool:
    """The company answered, or the ticket or its appeal was decided."""
    if story.by == By.COMPANY:
        return story.change != TicketChange.OPENED
    decided = story.change == TicketChange.MOVED and story.ticket.status in TERMINAL
    return decided or story.change == TicketChange.APPEAL_DECIDED


def publish_story(noted: Noted) -> None:
    story = noted.story

    def payload(at: datetime, tracking_number: str | None) -> Payload:
        requested = requested_documents_of(story.ticket)
        return TICKET_UPDATED.payload(
            story, at, tracking_number=tracking_number, requested=requested
        )

    opens = story.change == TicketChange.OPENED
    publish_of_ticket(TICKET_UPDATED, story.ticket, noted.at, payload, opens=opens)


def publish_of_ticket(
    event_type: EventType,
    ticket: Ticket,
    at: datetime,
    payload: Callable[[datetime, str | None], Payload],
    *,
    opens: bool = False,
) -> None:
    """Publish an event of a held ticket, of what happened `at`; nothing else publishes one.

    `payload` gets the event's `created_at`, which is later than that of the ticket's event before
    it (decision N2), and the tracking number. `opens`: it is the ticket's first. If no webhook of
    the company listens, this costs one look and no write.
    """
    if not publishing.is_heard(ticket.company_id, event_type.id):
        return
    tracking_number = tracking_number_of(ticket)
    news = News(
        company_id=ticket.company_id,
        type=event_type.id,
        shipment_id=ticket.shipment_id,
        tracking_number=tracking_number or "",
        body=encode(payload(note_time(ticket, at, opens=opens), tracking_number)),
        ticket_id=ticket.pk,
    )
    publishing.publish([news])


def note_time(ticket: Ticket, at: datetime, *, opens: bool) -> datetime:
    now = timezone.now()
    if opens:
        # Its first event has the time of the ticket itself: nothing more to keep.
        return event_time(ticket.created_at, now, None)
    ticket.last_event_at = event_time(at, now, ticket.last_event_at or ticket.created_at)
    ticket.save(update_fields=["last_event_at"])
    return ticket.last_event_at
