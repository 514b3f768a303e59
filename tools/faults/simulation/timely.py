"""The judge's sense of time: nothing due lies idle, and nothing is sent while its receiver rests.

What is due, or waits for a slot, goes within LATE_SECONDS. Where something was wrong, that counts
from when the service must have got over it. This imports nothing of the service.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from tools.faults.simulation.book import LASTING, WRITTEN_SECONDS, Book, Entry, Flight, webhook_at

LATE_SECONDS = 1.2
# A pause or hold that has ended is acted on within this time.
RESUMED_SECONDS = 2.0
# A retry's wake-up is written for the next whole second, and a tenth is left to chance.
RETRY_SECONDS, RETRY_PART = 1.0, 1.1
RETRY_SLACK_SECONDS = 0.05
# A receiver that does not answer rests, for longer and longer.
REST_SECONDS = 120.0

Span = tuple[float, float]


def late(book: Book) -> Iterator[str]:
    """Nothing that is due lies idle while nothing is wrong."""
    by_url = defaultdict(list)
    for flight in book.flights.values():
        by_url[flight.url].append(flight)
    for url, flights in by_url.items():
        webhook = webhook_at(book, url)
        if webhook is None:
            continue
        spans = sorted([*book.disturbed(), *acted(book, webhook), *rested(flights)])
        silent = [each for each in flights if each.ended is not None and each.status is None]
        for own in book.by_delivery(flights).values():
            for number, flight in enumerate(own):
                since = due(book, own, number, flights)
                if since is None or any(
                    since - REST_SECONDS < each.dialled < flight.dialled for each in silent
                ):
                    continue
                since = undisturbed(since, spans)
                idle = longest_idle(since, flight.dialled, flights)
                if idle > LATE_SECONDS:
                    yield (
                        f"flight {flight.number} of event {flight.said['n']} to {url}"
                        f" was due at {since:.3f} and {idle:.3f} s late"
                    )


def due(book: Book, own: Sequence[Flight], number: int, flights: Sequence[Flight]) -> float | None:
    """Return from when a try could be made; None where nobody can say."""
    flight = own[number]
    if number:
        earlier = own[number - 1]
        if not earlier.failed or earlier.ended is None or number > len(book.ladder):
            return None
        wait = max(book.ladder[number - 1] * RETRY_PART, earlier.retry_after or 0.0)
        since = earlier.ended + wait + RETRY_SECONDS
    else:
        since = book.events[flight.said["n"]]["act"]["at"]
    # Behind what comes before it in its subject.
    ahead = [
        each.ended if each.ended is not None else flight.dialled
        for each in flights
        if each.said["subject"] == flight.said["subject"]
        and each.sequence < flight.sequence
        and each.dialled < flight.dialled
    ]
    return max(since, *ahead, 0.0)


def rested(flights: Sequence[Flight]) -> Iterator[Span]:
    """Yield the spans for which the receiver asked to be left alone."""
    for each in flights:
        if each.retry_after and each.ended is not None:
            yield each.ended, each.ended + each.retry_after + RETRY_SECONDS


def in_spite_of_rest(book: Book) -> Iterator[str]:
    """A receiver that says when to come back is left alone until then."""
    for flight in book.flights.values():
        webhook = webhook_at(book, flight.url)
        for other in book.flights.values():
            if other.url != flight.url or not other.retry_after or other.ended is None:
                continue
            until = other.ended + other.retry_after - RETRY_SLACK_SECONDS
            if not other.ended < flight.dialled < until or webhook is None:
                continue
            since = other.dialled
            if book.troubled(other.loop, since, other.ended + WRITTEN_SECONDS) or book.acts_on(
                webhook, since, flight.dialled
            ):
                continue
            yield (
                f"flight {flight.number} went to {flight.url} {flight.dialled - other.ended:.3f} s"
                f" after it had asked for {other.retry_after:g} s of rest"
            )


def acted(book: Book, webhook: Entry) -> list[Span]:
    """Return the spans of acts that have a webhook's deliveries wait, or sent at other times."""
    found = []
    for act in book.acts_on(webhook, 0.0, 1e9):
        ends = [each["at"] for each in book.ends_of(act)]
        until = min(ends, default=1e9) if act["act"] in LASTING else act["at"]
        found.append((act["began"], until + RESUMED_SECONDS))
    return found


def undisturbed(since: float, spans: Sequence[Span]) -> float:
    """Return the first moment from `since` on at which nothing was wrong any more."""
    for began, until in spans:
        if began <= since + LATE_SECONDS:
            since = max(since, until)
    return since


def longest_idle(since: float, until: float, flights: Sequence[Flight]) -> float:
    """Return the longest time between two moments in which nothing was in flight."""
    longest, free = 0.0, since
    for flight in sorted(flights, key=lambda each: each.dialled):
        if flight.dialled >= until:
            break
        longest = max(longest, flight.dialled - free)
        free = max(free, flight.ended if flight.ended is not None else until)
    return max(longest, until - free)
