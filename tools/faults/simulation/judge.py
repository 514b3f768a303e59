"""Judge of a run, which checks the service's promises by the ledger alone.

The ledger has publications, people's acts, requests seen by receivers, and faults. This imports
nothing of the service: its promises are stated here independently.
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from tools.faults.simulation.book import (
    ABOUT,
    GONE_STATUS,
    LASTING,
    SLACK,
    Book,
    Entry,
    Flight,
    read,
    webhook_at,
)
from tools.faults.simulation.signatures import wrongly_signed
from tools.faults.simulation.timely import in_spite_of_rest, late

# Time until an operator's act has reached every loop.
NOTICED_SECONDS = 1.6
# Number of loops lost with a delivery after which it is set aside.
CRASHES = 4
# Acts that stop deliveries.
STOPPING = (*LASTING, "delete", "erase")


def broken_promises(ledger: list[Entry]) -> list[str]:
    """Return broken promises as sentences."""
    book = read(ledger)
    return [
        *(f"{each['who']} crashed: {each['error']}" for each in book.crashed),
        *missing(book),
        *refused(book),
        *foreign(book),
        *lost(book),
        *untrue(book),
        *out_of_order(book),
        *repeated(book),
        *too_early(book),
        *too_many_at_once(book),
        *late(book),
        *in_spite_of(book),
        *in_spite_of_rest(book),
        *in_spite_of_gone(book),
        *wrongly_signed(book),
    ]


def missing(book: Book) -> Iterator[str]:
    """Check that every place has a working loop once all faults are over."""
    if book.working < book.places:
        yield f"{book.working} of {book.places} loops work in the end"


def refused(book: Book) -> Iterator[str]:
    """Check that no publication and no act of people fails, unless there was a fault."""
    for act in book.acts:
        since, until = act["began"] - ABOUT, act["at"]
        if act["how"] == "unsure" and not any(
            each.began <= until and each.ended >= since for each in book.troubles
        ):
            yield f"{act['act']} failed at {until:.3f}"


def foreign(book: Book) -> Iterator[str]:
    """Check that each request has an event of its webhook's company and type, and one id."""
    request_by_id: dict[str, tuple[str, str]] = {}
    for flight in book.flights.values():
        webhook, event = webhook_at(book, flight.url), book.events.get(flight.payload["n"])
        if webhook is None or event is None or event["act"]["how"] == "rolled back":
            yield f"flight {flight.number} tells of an event that is not there"
            continue
        if (webhook["company"], webhook["type"]) != (event["company"], event["type"]):
            yield f"flight {flight.number} tells {flight.url} of a foreign event"
        if request_by_id.setdefault(flight.id, (flight.url, flight.body)) != (
            flight.url,
            flight.body,
        ):
            yield f"delivery {flight.id} has two bodies or two receivers"
    pairs = defaultdict(set)
    for flight in book.flights.values():
        pairs[flight.url, flight.payload["n"]].add(flight.id)
    for (url, n), ids in pairs.items():
        if len(ids) > 1:
            yield f"event {n} has {len(ids)} deliveries to {url}"


def lost(book: Book) -> Iterator[str]:
    """Check that every event has arrived or used up its attempts, unless an act stopped it."""
    by_event = defaultdict(list)
    for flight in book.flights.values():
        by_event[flight.url, flight.payload["n"]].append(flight)
    for n, event in book.events.items():
        if event["act"]["how"] != "done":
            continue
        for webhook in book.webhooks.values():
            if (webhook["company"], webhook["type"]) != (event["company"], event["type"]):
                continue
            if is_off(book, webhook):
                continue
            flights = by_event[webhook["url"], n]
            arrived = any(each.seen_at is not None and each.well for each in flights)
            given_up = sum(each.failed for each in flights) > len(book.ladder)
            if not (arrived or given_up or was_set_aside(book, n, webhook)):
                yield f"event {n} never came to {webhook['url']}, in {len(flights)} requests"


def was_set_aside(book: Book, n: int, webhook: Entry) -> bool:
    """Return True if the service reports it as set aside, with enough faults to explain it."""
    began = book.events[n]["act"]["began"]
    return sum(each.began >= began for each in book.troubles) >= CRASHES and any(
        each["error"] == "internal"
        for each in book.deliveries
        if (each["n"], each["webhook"]) == (n, webhook["webhook"])
    )


def untrue(book: Book) -> Iterator[str]:
    """Check that the service's state of a delivery agrees with the requests its receiver saw."""
    flights = book.by_delivery()
    for delivery in book.deliveries:
        own = flights.get(delivery["id"], [])
        what = f"delivery {delivery['id']} is {delivery['state']}"
        set_aside = delivery["error"] == "internal"
        if delivery["state"] == "delivered" and not any(
            each.seen_at is not None and each.well for each in own
        ):
            yield f"{what} and never arrived"
        failed = sum(each.failed and not book.unseen(each) for each in own)
        given_up = failed > len(book.ladder) or any(each.status == GONE_STATUS for each in own)
        if delivery["state"] == "given_up" and not (given_up or set_aside):
            yield f"{what} after {failed} failures"
        noticed = [each for each in own if each.ended is not None and not book.unseen(each)]
        if delivery["attempts"] > len(noticed) + set_aside:
            yield f"{what} after {delivery['attempts']} attempts, and {len(own)} were made"


def is_off(book: Book, webhook: Entry) -> bool:
    """Return True if a webhook was deleted, gone, or paused to the end."""
    off: set[str] = set()
    for act in book.acts:
        mine = act.get("webhook") == webhook["webhook"] or act.get("company") == webhook["company"]
        if not mine:
            continue
        if act["act"] in ("delete", "erase"):
            return True
        if act["act"] in ("pause", "company off"):
            off.add(act["act"])
        elif act["act"] in ("pause ends", "company off ends") and act["how"] == "done":
            off.discard(act["act"].removesuffix(" ends"))
    return bool(off) or any(
        each.url == webhook["url"] and each.status == GONE_STATUS for each in book.flights.values()
    )


def out_of_order(book: Book) -> Iterator[str]:
    """Check that no event is sent while an earlier one of its subject waits."""
    by_subject = defaultdict(list)
    for flight in book.flights.values():
        by_subject[flight.url, flight.payload["subject"]].append(flight)
    for (url, subject), flights in by_subject.items():
        webhook = webhook_at(book, url)
        for flight in flights:
            if flight.sent_at is None or webhook is None:
                continue
            for other in {each.payload["n"]: each for each in flights}.values():
                if not goes_first(book, other, flight):
                    continue
                if other.sequence > flight.sequence:
                    yield (
                        f"{url} got event {flight.payload['n']} of subject {subject} with a lower"
                        f" number than event {other.payload['n']}"
                    )
                own = [each for each in flights if each.payload["n"] == other.payload["n"]]
                if finished_by(book, own, flight.sent_at) or asked_again(
                    book, webhook, own, flight
                ):
                    continue
                yield (
                    f"{url} got event {flight.payload['n']} of subject {subject}"
                    f" before event {other.payload['n']}"
                )


def goes_first(book: Book, other: Flight, flight: Flight) -> bool:
    """Return True if the other's event precedes: in the same transaction, or in one that was over.

    An event stored later may find this one already claimed, and waiting for a slot.
    """
    before, n = other.payload["n"], flight.payload["n"]
    earlier, own = book.events[before]["act"], book.events[n]["act"]
    return bool(before < n if earlier is own else earlier["at"] <= own["began"])


def finished_by(book: Book, flights: list[Flight], at: float) -> bool:
    over = [each for each in flights if each.ended is not None and each.ended <= at]
    failed = sum(each.failed for each in over)
    first = flights[0]
    webhook = webhook_at(book, first.url)
    set_aside = webhook is not None and was_set_aside(book, first.payload["n"], webhook)
    given_up = failed > len(book.ladder) or set_aside
    return given_up or any(each.well for each in over)


def asked_again(book: Book, webhook: Entry, own: list[Flight], flight: Flight) -> bool:
    """Return True if an act redelivered it, which puts it after events sent before."""
    ids = {each.id for each in own}
    return any(ids & set(each.get("deliveries", ())) for each in book.acts) or any(
        each["act"] == "recover" for each in book.acts_on(webhook, 0.0, flight.dialled)
    )


def repeated(book: Book) -> Iterator[str]:
    """Check that none is in flight twice, or repeated after a success, without a reason.

    A fault explains both; an act leaves what is in flight alone.
    """
    for id, flights in book.by_delivery().items():
        for earlier, later in pairwise(flights):
            webhook = webhook_at(book, later.url)
            if webhook is None or later.sent_at is None:
                continue
            over = earlier.ended if earlier.ended is not None else later.dialled
            until = book.written_by(earlier.loop, over)
            if book.troubled(earlier.loop, earlier.dialled, until, harmful=True):
                continue
            if earlier.ended is None or earlier.ended > later.dialled:
                yield f"delivery {id} was in flight twice, from {earlier.loop} and {later.loop}"
            elif earlier.well and not asked_again(book, webhook, flights, later):
                yield f"delivery {id} was sent again {later.dialled - over:.3f} s after its success"


def too_early(book: Book) -> Iterator[str]:
    """Check that retries follow the schedule, unless the receiver recovered or an act sent them."""
    for id, flights in book.by_delivery().items():
        tries = [each for each in flights if each.error != "not_sent"]
        webhook = webhook_at(book, flights[0].url)
        if webhook is None:
            continue
        wells = [
            each.ended
            for each in book.flights.values()
            if each.url == webhook["url"] and each.well and each.ended is not None
        ]
        failures = 0  # One that was under way when its loop died is none.
        for earlier, later in pairwise(tries):
            if not earlier.failed or earlier.ended is None:
                continue
            number, failures = failures, failures + 1
            if number >= len(book.ladder):
                continue
            since, until = earlier.dialled, later.dialled
            mended = any(tries[0].dialled <= at <= until for at in wells)
            acts = book.acts_on(webhook, tries[0].dialled, until)
            if mended or acts or troubled_flights(book, tries):
                continue
            waited = later.dialled - earlier.ended
            # Retries become due by the clock, which may have been moved meanwhile.
            waited += book.clock_at(later.dialled) - book.clock_at(earlier.ended)
            if waited < book.ladder[number] - SLACK:
                yield f"delivery {id} was tried again after {waited:.3f} s, {since:.3f}"


def troubled_flights(book: Book, flights: list[Flight]) -> bool:
    return any(
        book.troubled(
            each.loop, each.dialled, book.written_by(each.loop, each.ended or each.dialled)
        )
        for each in flights
    )


def too_many_at_once(book: Book) -> Iterator[str]:
    """Check that requests in flight never exceed the webhook's limit."""
    for webhook in book.webhooks.values():
        if any(each["act"] == "limit" for each in book.acts_on(webhook, 0.0, 1e9)):
            continue
        own = [
            each for each in book.flights.values() if each.url == webhook["url"] and each.sent_at
        ]
        for flight in own:
            beside = [
                each
                for each in own
                if each.sent_at is not None
                and each.sent_at <= (flight.sent_at or 0.0)
                and book.over_at(each) > (flight.sent_at or 0.0)
            ]
            too_many = webhook["most"] and len(beside) > webhook["most"]
            if too_many and not troubled_flights(book, beside):
                yield f"{webhook['url']} had {len(beside)} requests at once"


def in_spite_of(book: Book) -> Iterator[str]:
    """Check that nothing is sent to paused, held, drained or deleted webhooks."""
    for act in book.acts:
        if act["act"] not in STOPPING or act["how"] != "done":
            continue
        until = min((each["began"] for each in book.ends_of(act)), default=1e9)
        for flight in book.flights.values():
            webhook = webhook_at(book, flight.url)
            if webhook is None or not concerns(act, webhook):
                continue
            if act["at"] + NOTICED_SECONDS < flight.dialled < until and not book.troubled(
                flight.loop, act["at"], flight.dialled
            ):
                yield (
                    f"flight {flight.number} went to {flight.url}"
                    f" {flight.dialled - act['at']:.3f} s after {act['act']}"
                )


def in_spite_of_gone(book: Book) -> Iterator[str]:
    """Check that a receiver that answered 410 gets nothing more, until an act resumes it."""
    for farewell in book.flights.values():
        webhook = webhook_at(book, farewell.url)
        if farewell.status != GONE_STATUS or farewell.ended is None or webhook is None:
            continue
        if book.troubled(
            farewell.loop, farewell.dialled, book.written_by(farewell.loop, farewell.ended)
        ):
            continue
        for flight in book.flights.values():
            if flight.url != farewell.url or flight.dialled < farewell.ended + NOTICED_SECONDS:
                continue
            if not book.acts_on(webhook, farewell.dialled, flight.dialled):
                yield f"flight {flight.number} went to {farewell.url}, which is gone"


def concerns(act: Entry, webhook: Entry) -> bool:
    if act["act"] == "drain":
        return True
    if act["act"] == "hold":
        return bool(webhook["url"].split("/")[2] == act["host"])
    if act["act"] in ("company off", "erase"):
        return bool(webhook["company"] == act["company"])
    return bool(webhook["webhook"] == act["webhook"])
