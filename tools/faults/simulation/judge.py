"""Judge from its ledger alone whether a run kept what the service promises.

The ledger has what was published, what people asked for, what receivers saw, and which faults
there were. This imports nothing of the service: its promises are written down here a second time.
"""

import hashlib
import hmac
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from tools.faults.simulation.book import (
    LASTING,
    Book,
    Entry,
    Flight,
    read,
    webhook_at,
)
from tools.faults.simulation.timely import in_spite_of_rest, late

# An operator's word has reached every loop by then.
NOTICED_SECONDS = 1.6
# Loops that were lost with a delivery after which it is set aside.
CRASHES = 4
GONE = 410
SLACK = 0.05
# Acts after which nothing is sent.
STOPPING = (*LASTING, "delete", "erase")
# A delivery for which there is a slot is sent within this time after its claim has begun.
CLAIMED_SECONDS = 0.5
# How far apart two clocks may be, and how long what was written is on its way.
ABOUT = 8.0


def broken_promises(ledger: list[Entry]) -> list[str]:
    """Return the promises that were not kept, in sentences."""
    book = read(ledger)
    return [
        *(f"{each['who']} crashed: {each['error']}" for each in book.crashed),
        *missing(book),
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
    """Every place has a loop that works once nothing fails any more."""
    if book.working < book.places:
        yield f"{book.working} of {book.places} loops work in the end"


def foreign(book: Book) -> Iterator[str]:
    """Each request is of an event of its webhook's company and type; one id is of one event."""
    told: dict[str, tuple[str, str]] = {}
    for flight in book.flights.values():
        webhook, event = webhook_at(book, flight.url), book.events.get(flight.said["n"])
        if webhook is None or event is None or event["act"]["how"] == "rolled back":
            yield f"flight {flight.number} tells of an event that is not there"
            continue
        if (webhook["company"], webhook["type"]) != (event["company"], event["type"]):
            yield f"flight {flight.number} tells {flight.url} of a foreign event"
        if told.setdefault(flight.id, (flight.url, flight.body)) != (flight.url, flight.body):
            yield f"delivery {flight.id} has two bodies or two receivers"
    pairs = defaultdict(set)
    for flight in book.flights.values():
        pairs[flight.url, flight.said["n"]].add(flight.id)
    for (url, n), ids in pairs.items():
        if len(ids) > 1:
            yield f"event {n} has {len(ids)} deliveries to {url}"


def lost(book: Book) -> Iterator[str]:
    """Every event has arrived, or has used up its attempts, unless somebody stopped it."""
    by_event = defaultdict(list)
    for flight in book.flights.values():
        by_event[flight.url, flight.said["n"]].append(flight)
    for n, event in book.events.items():
        if event["act"]["how"] != "done":
            continue
        for webhook in book.webhooks.values():
            if (webhook["company"], webhook["type"]) != (event["company"], event["type"]):
                continue
            if is_off(book, webhook):
                continue
            flights = by_event[webhook["url"], n]
            arrived = any(each.seen is not None and each.well for each in flights)
            given_up = sum(each.failed for each in flights) > len(book.ladder)
            if not (arrived or given_up or was_set_aside(book, n, webhook)):
                yield f"event {n} never came to {webhook['url']}, in {len(flights)} requests"


def was_set_aside(book: Book, n: int, webhook: Entry) -> bool:
    """Return whether the service says so, after enough troubles for it to be true."""
    began = book.events[n]["act"]["began"]
    return sum(each.began >= began for each in book.troubles) >= CRASHES and any(
        each["error"] == "internal"
        for each in book.deliveries
        if (each["n"], each["webhook"]) == (n, webhook["webhook"])
    )


def untrue(book: Book) -> Iterator[str]:
    """The service's own word on a delivery agrees with what its receiver saw."""
    flights = book.by_delivery()
    for said in book.deliveries:
        own = flights.get(said["id"], [])
        what = f"delivery {said['id']} is {said['state']}"
        set_aside = said["error"] == "internal"
        if said["state"] == "delivered" and not any(
            each.seen is not None and each.well for each in own
        ):
            yield f"{what} and never arrived"
        failed = sum(each.failed and not book.unseen(each) for each in own)
        given_up = failed > len(book.ladder) or any(each.status == GONE for each in own)
        if said["state"] == "given_up" and not (given_up or set_aside):
            yield f"{what} after {failed} failures"
        seen = [each for each in own if each.ended is not None and not book.unseen(each)]
        if said["attempts"] > len(seen) + set_aside:
            yield f"{what} after {said['attempts']} attempts, and {len(own)} were made"


def is_off(book: Book, webhook: Entry) -> bool:
    """Return whether a webhook was deleted, gone, or paused to the end."""
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
        each.url == webhook["url"] and each.status == GONE for each in book.flights.values()
    )


def out_of_order(book: Book) -> Iterator[str]:
    """No event of a subject is sent while an earlier one of it is still to be delivered."""
    by_subject = defaultdict(list)
    for flight in book.flights.values():
        by_subject[flight.url, flight.said["subject"]].append(flight)
    for (url, subject), flights in by_subject.items():
        webhook = webhook_at(book, url)
        for flight in flights:
            if flight.sent is None or webhook is None:
                continue
            for other in {each.said["n"]: each for each in flights}.values():
                if not goes_first(book, other, flight):
                    continue
                own = [each for each in flights if each.said["n"] == other.said["n"]]
                if finished_by(book, own, flight.sent) or asked_again(book, webhook, own, flight):
                    continue
                yield (
                    f"{url} got event {flight.said['n']} of subject {subject}"
                    f" before event {other.said['n']}"
                )


def goes_first(book: Book, other: Flight, flight: Flight) -> bool:
    """Return whether the other's event has a lower number, and was stored no later.

    One that is stored later may find this one claimed, and waiting for a slot.
    """
    earlier, own = book.events[other.said["n"]]["act"], book.events[flight.said["n"]]["act"]
    return other.sequence < flight.sequence and (earlier is own or earlier["at"] <= own["began"])


def finished_by(book: Book, flights: list[Flight], at: float) -> bool:
    over = [each for each in flights if each.ended is not None and each.ended <= at]
    failed = sum(each.failed for each in over)
    first = flights[0]
    webhook = webhook_at(book, first.url)
    set_aside = webhook is not None and was_set_aside(book, first.said["n"], webhook)
    given_up = failed > len(book.ladder) or set_aside
    return given_up or any(each.well for each in over)


def asked_again(book: Book, webhook: Entry, own: list[Flight], flight: Flight) -> bool:
    """Return whether somebody had it sent again: then it is behind what has gone before."""
    ids = {each.id for each in own}
    return any(ids & set(each.get("deliveries", ())) for each in book.acts) or any(
        each["act"] == "recover" for each in book.acts_on(webhook, 0.0, flight.dialled)
    )


def repeated(book: Book) -> Iterator[str]:
    """No delivery is sent again after a success, unless a fault or somebody's wish explains it."""
    for id, flights in book.by_delivery().items():
        for earlier, later in pairwise(flights):
            webhook = webhook_at(book, later.url)
            if webhook is None or later.sent is None:
                continue
            over = earlier.ended if earlier.ended is not None else later.dialled
            if asked_again(book, webhook, flights, later):
                continue
            until = book.written_by(earlier.loop, over)
            if book.troubled(earlier.loop, earlier.dialled, until, harmful=True):
                continue
            if earlier.ended is None or earlier.ended > later.dialled:
                yield f"delivery {id} was in flight twice, from {earlier.loop} and {later.loop}"
            elif earlier.well:
                yield f"delivery {id} was sent again {later.dialled - over:.3f} s after its success"


def too_early(book: Book) -> Iterator[str]:
    """A retry keeps to the ladder, unless the receiver was mended or somebody asked for it."""
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
        for number, (earlier, later) in enumerate(pairwise(tries)):
            if not earlier.failed or earlier.ended is None or number >= len(book.ladder):
                continue
            since, until = earlier.dialled, later.dialled
            mended = any(tries[0].dialled <= at <= until for at in wells)
            asked = book.acts_on(webhook, tries[0].dialled, until)
            if mended or asked or troubled_flights(book, tries):
                continue
            waited = later.dialled - earlier.ended
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
    """Never more requests to a webhook at once than it wants."""
    for webhook in book.webhooks.values():
        if any(each["act"] == "limit" for each in book.acts_on(webhook, 0.0, 1e9)):
            continue
        own = [each for each in book.flights.values() if each.url == webhook["url"] and each.sent]
        for flight in own:
            beside = [
                each
                for each in own
                if each.sent is not None
                and each.sent <= (flight.sent or 0.0)
                and (each.ended is None or each.ended > (flight.sent or 0.0))
            ]
            too_many = webhook["most"] and len(beside) > webhook["most"]
            if too_many and not troubled_flights(book, beside):
                yield f"{webhook['url']} had {len(beside)} requests at once"


def in_spite_of(book: Book) -> Iterator[str]:
    """Nothing goes to what is paused, held, drained or deleted, once the loops have noticed."""
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
    """A receiver that says that it is gone gets nothing more, until somebody resumes it."""
    for gone in book.flights.values():
        webhook = webhook_at(book, gone.url)
        if gone.status != GONE or gone.ended is None or webhook is None:
            continue
        if book.troubled(gone.loop, gone.dialled, book.written_by(gone.loop, gone.ended)):
            continue
        for flight in book.flights.values():
            if flight.url != gone.url or flight.dialled < gone.ended + NOTICED_SECONDS:
                continue
            if not book.acts_on(webhook, gone.dialled, flight.dialled):
                yield f"flight {flight.number} went to {gone.url}, which is gone"


def concerns(act: Entry, webhook: Entry) -> bool:
    if act["act"] == "drain":
        return True
    if act["act"] == "hold":
        return bool(webhook["url"].split("/")[2] == act["host"])
    if act["act"] in ("company off", "erase"):
        return bool(webhook["company"] == act["company"])
    return bool(webhook["webhook"] == act["webhook"])


def wrongly_signed(book: Book) -> Iterator[str]:
    """Each request is signed with the secret of its webhook at that time.

    What waits for its turn has the address that was read when it was claimed.
    """
    for flight in book.flights.values():
        webhook, said = webhook_at(book, flight.url), flight.headers.get("X-Webhook-Signature")
        if webhook is None:
            continue
        if said is None:
            yield f"flight {flight.number} is not signed"
            continue
        timestamp, event = flight.headers["X-Webhook-Timestamp"], flight.headers["X-Webhook-Event"]
        signed = f"{timestamp}.{event}.".encode() + flight.body.encode()
        secrets = secrets_at(book, webhook, flight.dialled, claimed_since(book, flight))
        fits = [
            secret
            for secret in secrets
            if hmac.compare_digest(
                said.rpartition("=")[2],
                hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest(),
            )
        ]
        if not fits and "anything" not in secrets:
            yield f"flight {flight.number} to {flight.url} is signed with another secret"


def claimed_since(book: Book, flight: Flight) -> float:
    """Return from when on a flight may have been claimed.

    It waited as long as other requests to its host were in flight, or something was wrong.
    """
    since = flight.dialled
    if book.clock_moved or book.troubled(flight.loop, since - ABOUT, since):
        return since - ABOUT
    host = flight.url.split("/")[2]
    for other in sorted(book.flights.values(), key=lambda each: each.dialled, reverse=True):
        if other.url.split("/")[2] != host or other.dialled >= since:
            continue
        if (other.ended if other.ended is not None else since) + CLAIMED_SECONDS >= since:
            since = min(since, other.dialled)
    return since - CLAIMED_SECONDS


def secrets_at(book: Book, webhook: Entry, at: float, claimed: float) -> set[str]:
    """Return the secrets that may sign then: the one in use, and one that comes or goes then."""
    now, coming, since, until = webhook["secret"], "", 1e9, 1e9
    early = ABOUT if book.clock_moved else SLACK
    found: set[str] = set()
    for act in [*book.acts, {"act": "rotate", "began": 1e9, "at": 1e9, "how": "end"}]:
        if act["act"] != "rotate" or act.get("webhook", webhook["webhook"]) != webhook["webhook"]:
            continue
        # Until the next one: the coming one is in use from a moment between these two on.
        if act["at"] >= claimed:
            found |= {now} if claimed <= until else set()
            found |= {coming} if at >= since - early else set()
        if act["began"] > at + ABOUT:
            break
        if act["how"] == "unsure":
            return {now, coming, act.get("secret", ""), "anything"}
        if until <= act["began"]:
            now = coming
        wait = act.get("activates_in", 0)
        coming, since, until = act.get("secret", ""), act["began"] + wait, act["at"] + wait
    return found
