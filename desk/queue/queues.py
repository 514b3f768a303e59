"""The queues that agents work from: conditions, orders and counts."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.core.cache import cache
from django.db.models import F
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy

from core.data.statements import read_rows
from desk.common.cache import cached
from desk.common.generics import StrPromise
from desk.common.requests import staff
from tickets.changes.snoozing import asleep_of
from tickets.models import Agent, Appeal, Ticket, Watch
from tickets.models.tickets import TicketQuerySet

MOST_SHOWN = 1_000
# Maximum age of a badge. Nothing else refreshes it: a move does not invalidate the cache.
FRESH_SECONDS = 20
COUNTED_FOR_ALL_SECONDS = 9

NEWEST = ("-pk",)
# The order of the index over all tickets.
NEWEST_OF_ALL = ("-created_at", "-pk")
URGENT = (F("due_at").asc(nulls_last=True), "pk")
BY_AGENT = ("agent_id", *URGENT)

TO_FILE = "to-file"

Narrow = Callable[[TicketQuerySet, int | None], TicketQuerySet]


class Queue(NamedTuple):
    slug: str
    title: StrPromise
    icon: str
    # Called with the tickets and the user's agent id, or None if they are not an agent.
    narrow: Narrow
    order: tuple[Any, ...] = NEWEST
    # False: too many tickets to count them, or to sort them by a deadline.
    small: bool = True
    leads_only: bool = False


def overdue(tickets: TicketQuerySet, me: int | None) -> TicketQuerySet:
    return tickets.open().filter(due_at__lt=timezone.now())


def watched(tickets: TicketQuerySet, me: int | None) -> TicketQuerySet:
    """Select the open tickets that an agent watches; a decision ends the interest in them."""
    return tickets.open().filter(pk__in=Watch.objects.filter(agent=me or 0).values("ticket"))


def to_file(tickets: TicketQuerySet, me: int | None) -> TicketQuerySet:
    """Select the open tickets whose carrier still accepts a claim."""
    return tickets.open().filter(filing_due_at__gte=timezone.now())


QUEUES = (
    Queue(
        "mine",
        gettext_lazy("Mine"),
        "person",
        lambda all_, me: all_.open().filter(~asleep_of(me), agent=me or 0),
        URGENT,
    ),
    Queue(
        "snoozed",
        gettext_lazy("Snoozed"),
        "schedule",
        lambda all_, me: all_.open().filter(asleep_of(me), agent=me or 0),
        URGENT,
    ),
    Queue("watched", gettext_lazy("Watched"), "visibility", watched, URGENT),
    Queue("unassigned", gettext_lazy("Unassigned"), "inbox", lambda all_, me: all_.waiting()),
    Queue(
        "escalated",
        gettext_lazy("Escalated"),
        "arrow_circle_up",
        lambda all_, me: all_.escalated(),
        URGENT,
    ),
    Queue("overdue", gettext_lazy("Overdue"), "alarm", overdue, URGENT),
    Queue(
        "waiting",
        gettext_lazy("Waiting on company"),
        "hourglass_empty",
        lambda all_, me: all_.waiting_for_company(),
    ),
    Queue(
        "claims",
        gettext_lazy("Claim review"),
        "gavel",
        lambda all_, me: all_.claims(),
    ),
    Queue(
        TO_FILE,
        gettext_lazy("Claims to file"),
        "request_quote",
        to_file,
        # The order of its own index: highest amount first, then the nearest deadline.
        order=(F("amount_claimed").desc(nulls_last=True), "filing_due_at", "pk"),
    ),
    Queue(
        "appeals",
        gettext_lazy("Appeals"),
        "undo",
        lambda all_, me: all_.filter(appeals__state=Appeal.State.PENDING),
        # A Declined ticket was last updated by its appeal, so this is oldest appeal first.
        order=("updated_at", "pk"),
        leads_only=True,
    ),
    Queue("open", gettext_lazy("All open"), "all_inbox", lambda all_, me: all_.open()),
    Queue(
        "everyone",
        gettext_lazy("By agent"),
        "groups",
        lambda all_, me: all_.open().filter(agent__isnull=False),
        order=BY_AGENT,
        leads_only=True,
    ),
    Queue(
        "everything",
        gettext_lazy("Everything"),
        "stacks",
        lambda all_, me: all_,
        order=NEWEST_OF_ALL,
        small=False,
    ),
)
BY_SLUG = {queue.slug: queue for queue in QUEUES}
COUNTED_QUEUES = tuple(queue for queue in QUEUES if queue.small)
PERSONAL = ("mine", "snoozed", "watched")
# Their tickets are the same for every user.
SHARED_LISTS = tuple(queue for queue in QUEUES if queue.slug not in PERSONAL)
SHARED = tuple(queue for queue in SHARED_LISTS if queue.small)


def short_count(count: int) -> str | None:
    """Format a count for a badge; None for zero."""
    return f"{MOST_SHOWN}+" if count > MOST_SHOWN else str(count) if count else None


class Facts(NamedTuple):
    """A user's agent id and badges, cached for FRESH_SECONDS."""

    me: int | None
    counts: dict[str, int]

    def badge(self, queue: Queue) -> str | None:
        return short_count(self.counts.get(queue.slug, 0))


def queues_for(user: User) -> list[Queue]:
    leads = user.has_perm("tickets.assign_ticket")
    return [queue for queue in QUEUES if leads or not queue.leads_only]


def current_queue(request: HttpRequest, *, searching: bool) -> Queue:
    """Return the queue that the address names, or the user's default; "everything" for a search."""
    queue = BY_SLUG.get(request.GET.get("queue", ""))
    if searching:
        return BY_SLUG["everything"]
    if queue in queues_for(staff(request)):
        return queue
    return BY_SLUG["open" if queue_counts(request).me is None else "mine"]


def queue_counts(request: HttpRequest) -> Facts:
    """Return the user's badges, at most FRESH_SECONDS old; read once per request."""
    facts: Facts | None = getattr(request, "_desk_facts", None)
    if facts is None:
        user = staff(request)
        values = cached(f"queues:{user.pk}", FRESH_SECONDS, lambda: tuple(count_queues(user)))
        facts = Facts._make(values)
        vars(request)["_desk_facts"] = facts
    return facts


def forget_counts(user: User) -> None:
    """Drop a user's cached badges, after a change of their own lists."""
    with suppress(Exception):  # whatever the cache's client calls "away"
        cache.delete(f"desk:queues:{user.pk}")


def count_queues(user: User) -> Facts:
    """Count all badges in one statement, each up to MOST_SHOWN + 1 index entries."""
    me = Agent.objects.filter(user=user).values_list("pk", flat=True).first()
    return Facts(me, count_each(COUNTED_QUEUES, me))


def count_for_all() -> dict[str, int]:
    """Return the counts of the queues that are the same for all users."""
    return cached("queues", COUNTED_FOR_ALL_SECONDS, lambda: count_each(SHARED, None))


def count_each(queues: Iterable[Queue], me: int | None) -> dict[str, int]:
    parts: list[str] = []
    parameters: list[Any] = []
    slugs = [queue.slug for queue in queues]
    for queue in (BY_SLUG[slug] for slug in slugs):
        capped = queue.narrow(Ticket.objects.all(), me).order_by().values("pk")[: MOST_SHOWN + 1]
        sql, params = capped.query.sql_with_params()
        parts.append(f"(SELECT count(*) FROM ({sql}) AS capped)")  # noqa: S608 - Django's own
        parameters += params
    (counts,) = read_rows(f"SELECT {', '.join(parts)}", parameters)
    return dict(zip(slugs, counts, strict=True))


def queue_members(ticket_ids: list[int]) -> list[tuple[str, int]]:
    """Return pairs of queue slug and ticket id, for the queues that are the same for all users."""
    parts: list[str] = []
    parameters: list[Any] = []
    for queue in SHARED_LISTS:
        tickets = Ticket.objects.filter(pk__in=ticket_ids)
        sql, params = queue.narrow(tickets, None).order_by().values("pk").query.sql_with_params()
        parts.append(f"SELECT %s, id FROM ({sql}) AS held (id)")  # noqa: S608 - Django's own
        parameters += [queue.slug, *params]
    return [(slug, pk) for slug, pk in read_rows(" UNION ALL ".join(parts), parameters)]
