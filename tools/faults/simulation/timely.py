"""Judge of times: due deliveries are sent in time, and none while its receiver rests.

A delivery that is due, or waits for a slot, must be sent within LATE_SECONDS. After a fault, that
counts from the end of the recovery. This imports nothing of the service.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from tools.faults.simulation.book import (
    GONE_STATUS,
    LASTING,
    WRITTEN_SECONDS,
    Book,
    Entry,
    Flight,
    webhook_at,
)

LATE_SECONDS = 1.2
# Loops notice the end of a pause or hold within this time.
RESUMED_SECONDS = 2.0
# A retry's wake-up is rounded up to the second, and its delay has a jitter of a tenth.
RETRY_SECONDS, RETRY_PART = 1.0, 1.1
RETRY_SLACK_SECONDS = 0.05
# Polling interval of loops without a doorbell.
UNHEARD_SECONDS = 1.2
# A silent receiver rests after this many failures in a row: for a second, then two, and so on.
FAILURES_BEFORE_REST, LONGEST_REST_SECONDS = 3, 300.0
REST_SLACK_SECONDS = 0.3
# Longest rest if failures were recorded twice, as the answer of the database was lost.
TWICE_SECONDS = 120.0
# Number of loops lost with a delivery after which it waits for the quarantine.
SUSPECT_LOSSES = 2

Span = tuple[float, float]


def late(book: Book) -> Iterator[str]:
    """Check that due deliveries are sent in time, apart from faults."""
    by_url = defaultdict(list)
    for flight in sorted(book.flights.values(), key=lambda each: each.dialled):
        by_url[flight.url].append(flight)
    for url, flights in by_url.items():
        webhook = webhook_at(book, url)
        if webhook is None:
            continue
        resting = rests(book, flights)
        told = (*rested(flights), *gone(book, webhook, flights))
        spans = sorted([*book.disturbed(), *acted(book, webhook), *told, *resting])
        busy = flights
        if any(
            is_silent(each) and not book.unseen(each)
            for each in book.flights.values()
            if same_host(each.url, url)
        ):
            # Webhooks of a silent host are tried one at a time.
            busy = [each for own, all in by_url.items() if same_host(own, url) for each in all]
        for own in book.by_delivery(flights).values():
            for number, flight in enumerate(own):
                since = due(book, own, number, flights)
                if since is None:
                    continue
                since = undisturbed(since, spans)
                idle = longest_idle(since, flight.dialled, busy, spans)
                if idle > allowed(book, since, flight.dialled):
                    yield (
                        f"flight {flight.number} of event {flight.payload['n']} to {url}"
                        f" was due at {since:.3f} and {idle:.3f} s late"
                    )


def allowed(book: Book, since: float, until: float) -> float:
    """Return how long due deliveries may wait."""
    unheard = any(began <= until and since <= end for began, end in book.unheard)
    return LATE_SECONDS + (UNHEARD_SECONDS if unheard else 0.0)


def is_silent(flight: Flight) -> bool:
    return flight.ended is not None and flight.status is None and flight.error != "not_sent"


def same_host(one: str, other: str) -> bool:
    return one.split("/")[2] == other.split("/")[2]


def due(book: Book, own: Sequence[Flight], number: int, flights: Sequence[Flight]) -> float | None:
    """Return the earliest time of an attempt; None if it is unknown."""
    flight = own[number]
    if number:
        tried = tried_again_at(book, own[:number]), asked_at(book, own[number - 1], flight.dialled)
        known = [each for each in tried if each is not None]
        if not known:
            return None
        since = min(known)
    else:
        since = book.events[flight.payload["n"]]["act"]["at"]
    # Earlier events of the same subject go first.
    ahead = [
        each.ended if each.ended is not None else flight.dialled
        for each in flights
        if each.payload["subject"] == flight.payload["subject"]
        and each.sequence < flight.sequence
        and each.dialled < flight.dialled
    ]
    return max(since, *ahead, 0.0)


def tried_again_at(book: Book, own: Sequence[Flight]) -> float | None:
    """Return the earliest time of a retry after these attempts; None if it is unknown."""
    last, failures = own[-1], sum(each.failed for each in own)
    if last.ended is None:
        # Its loop died with it. After several deaths it is sent in quarantine.
        lost = sum(each.began >= own[0].dialled and not each.harmless for each in book.troubles)
        return book.died.get(last.loop) if lost < SUSPECT_LOSSES else None
    over = book.noticed_at(last)
    if book.unseen(last):
        return over
    if not last.failed or failures > len(book.ladder):
        return None
    wait = max(book.ladder[failures - 1] * RETRY_PART, last.retry_after or 0.0)
    return over + wait + RETRY_SECONDS


def asked_at(book: Book, last: Flight, until: float) -> float | None:
    """Return when an act first asked for a delivery after this attempt; None if none did."""
    over = last.ended
    if over is None or last.retry_after or book.troubled(last.loop, last.dialled, until):
        return None
    return min(
        (
            act["at"]
            for act in book.acts
            if act["how"] == "done"
            and last.id in act.get("deliveries", ())
            and over + WRITTEN_SECONDS < act["began"]
            and act["at"] < until
        ),
        default=None,
    )


def rests(book: Book, flights: Sequence[Flight]) -> Iterator[Span]:
    """Yield spans in which a silent receiver may rest."""
    ended = sorted(
        (each for each in flights if each.ended is not None and each.error != "not_sent"),
        key=lambda each: each.ended or 0.0,
    )
    failures = rests = 0
    for place, flight in enumerate(ended):
        over = flight.ended or 0.0
        if flight.well:
            # A failure that could not be recorded does not count.
            if not book.troubled(flight.loop, flight.dialled, book.written_by(flight.loop, over)):
                failures = rests = 0
            continue
        failures += 1
        if flight.retry_after:
            rests = max(rests, 1)
        # Flights that ended a little later may have been recorded together with it.
        soon = sum((each.ended or 0.0) <= over + WRITTEN_SECONDS for each in ended[place + 1 :])
        if is_silent(flight) and failures + soon >= FAILURES_BEFORE_REST:
            seconds = min(2.0**rests, LONGEST_REST_SECONDS)
            if book.unsure:
                seconds = TWICE_SECONDS
            yield over, over + seconds + REST_SLACK_SECONDS
            rests += 1


def rested(flights: Sequence[Flight]) -> Iterator[Span]:
    """Yield the spans of the receiver's Retry-After."""
    for each in flights:
        if each.retry_after and each.ended is not None:
            yield each.ended, each.ended + each.retry_after + RETRY_SECONDS


def gone(book: Book, webhook: Entry, flights: Sequence[Flight]) -> Iterator[Span]:
    """Yield the spans from a receiver's 410, which pauses its webhook, until that is resumed."""
    for each in flights:
        if each.status == GONE_STATUS and each.ended is not None:
            acts = book.acts_on(webhook, each.ended, 1e9)
            resumed = (act["at"] for act in acts if act["act"] == "pause ends")
            yield each.ended, min(resumed, default=1e9) + RESUMED_SECONDS


def in_spite_of_rest(book: Book) -> Iterator[str]:
    """Check that a receiver's Retry-After is respected."""
    for flight in book.flights.values():
        webhook = webhook_at(book, flight.url)
        for other in book.flights.values():
            if other.url != flight.url or not other.retry_after or other.ended is None:
                continue
            # It rests by the clock, which may have been moved meanwhile.
            rested = flight.dialled + book.clock_at(flight.dialled)
            rested -= other.ended + book.clock_at(other.ended)
            early = rested < other.retry_after - RETRY_SLACK_SECONDS
            if not (other.ended < flight.dialled and early) or webhook is None:
                continue
            since = other.dialled
            recorded_by = book.written_by(other.loop, other.ended)
            if book.troubled(other.loop, since, recorded_by) or book.acts_on(
                webhook, since, flight.dialled
            ):
                continue
            yield (
                f"flight {flight.number} went to {flight.url} {flight.dialled - other.ended:.3f} s"
                f" after it had asked for {other.retry_after:g} s of rest"
            )


def acted(book: Book, webhook: Entry) -> list[Span]:
    """Return the spans of acts that delay or reschedule a webhook's deliveries."""
    spans = []
    for act in book.acts_on(webhook, 0.0, 1e9):
        ends = [each["at"] for each in book.ends_of(act)]
        until = min(ends, default=1e9) if act["act"] in LASTING else act["at"]
        spans.append((act["began"], until + RESUMED_SECONDS))
    return spans


def undisturbed(since: float, spans: Sequence[Span]) -> float:
    """Return the first moment from `since` on outside of faults."""
    for began, until in spans:
        if began <= since + LATE_SECONDS:
            since = max(since, until)
    return since


def longest_idle(
    since: float, until: float, flights: Sequence[Flight], spans: Sequence[Span]
) -> float:
    """Return the longest time between two moments without a flight or a fault."""
    longest, free = 0.0, since
    for flight in sorted(flights, key=lambda each: each.dialled):
        if flight.dialled >= until:
            break
        longest = max(longest, flight.dialled - undisturbed(free, spans))
        free = max(free, flight.ended if flight.ended is not None else until)
    return max(longest, until - undisturbed(free, spans))
