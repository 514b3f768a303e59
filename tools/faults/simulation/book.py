"""Ledger of a run, sorted for the judge. It imports nothing of the service."""

import json
import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Entry = dict[str, Any]
# Tolerance of times, and the largest difference of two clocks, plus the delay of a write.
SLACK, ABOUT = 0.05, 8.0
# The engine records an answer within this time, unless there is a fault.
WRITTEN_SECONDS = 1.0
# Effects of a fault last this long after its end: the loop retries, or learns that it is lost.
AFTER_SECONDS = 2.0
# Timeout of a loop's statement that hangs.
PATIENCE_SECONDS = 10.0
# Another loop takes over from a lost one within a lease of four seconds and a heartbeat; lanes that
# a loop took after it was given up are found every five seconds.
HEAL_SECONDS, ORPHANS_SECONDS = 6.0, 5.0
# A loop reaches the database again within this time.
AGAIN_SECONDS = 3.0
# A loop that is frozen for less than the first keeps its lease, and continues at once; from the
# second on it notices its absence itself.
UNNOTICED_SECONDS, NOTICED_AWAY_SECONDS = 2.9, 2.0
# Time within which the others take over the lanes that a stopping loop releases.
STOPPED_SECONDS = 1.0
# Largest change of a clock.
CLOCK_SECONDS = 3.5
# A loop whose statements fail for so long may lose its lease, and its work to other loops.
LOST_SECONDS = 3.0
GONE_STATUS = 410
# Acts that last until another act ends them; nothing is sent meanwhile.
LASTING = ("pause", "hold", "drain", "company off")


@dataclass
class Flight:
    """Request, from its first byte until the loop has its answer."""

    number: int
    loop: str
    url: str
    id: str
    sequence: int
    payload: Entry
    body: str
    headers: dict[str, str]
    dialled: float
    sent_at: float | None = None
    seen_at: float | None = None
    ended: float | None = None
    status: int | None = None
    error: str = ""
    # Retry-After of the answer, in seconds.
    retry_after: float | None = None

    @property
    def well(self) -> bool:
        return self.status is not None and 200 <= self.status <= 299

    @property
    def failed(self) -> bool:
        return self.ended is not None and not self.well and self.error != "not_sent"


class Trouble(NamedTuple):
    """Fault of a loop, or of all loops if `who` is empty.

    A harmless one only delays a loop, and loses none of its work.
    """

    began: float
    ended: float
    who: str
    harmless: bool = False


@dataclass
class Book:
    """Sorted ledger."""

    webhooks: dict[int, Entry] = field(default_factory=dict)
    ladder: list[float] = field(default_factory=list)
    # Number of places for loops, and of loops with a lease at the end.
    places: int = 0
    working: int = 0
    # Times at which the database's clock was changed, and its offset from then on.
    clock_moves: list[tuple[float, float]] = field(default_factory=list)
    # A result may have been recorded twice, as an answer of the database was lost.
    unsure: bool = False
    events: dict[int, Entry] = field(default_factory=dict)
    flights: dict[int, Flight] = field(default_factory=dict)
    acts: list[Entry] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)
    crashed: list[Entry] = field(default_factory=list)
    # Spans in which deliveries may be late.
    unwell: list[tuple[float, float]] = field(default_factory=list)
    # Spans without the doorbell.
    unheard: list[tuple[float, float]] = field(default_factory=list)
    # Frozen loops with begin and end, and times of loops' deaths.
    frozen: list[tuple[str, float, float]] = field(default_factory=list)
    died: dict[str, float] = field(default_factory=dict)
    # First and last of a loop's statements that failed one after another, by loop.
    breaks: dict[str, tuple[float, float]] = field(default_factory=dict)
    # Times, loops and their changes: started, frozen, thawed, ended.
    lives: list[tuple[float, str, str]] = field(default_factory=list)
    # Final state of each delivery according to the service.
    deliveries: list[Entry] = field(default_factory=list)

    def by_delivery(self, flights: Iterable[Flight] | None = None) -> dict[str, list[Flight]]:
        flights_by_id = defaultdict(list)
        for flight in self.flights.values() if flights is None else flights:
            flights_by_id[flight.id].append(flight)
        return flights_by_id

    def clock_at(self, at: float) -> float:
        """Return the offset of the database's clock at a time."""
        return next((moved for since, moved in reversed(self.clock_moves) if since <= at), 0.0)

    def disturbed(self) -> list[tuple[float, float]]:
        """Return the spans of faults, and of the service's recovery from them."""
        spans = list(self.unwell)
        working: set[str] = set()
        ended: set[str] = set()
        nobody_since = 0.0
        for at, who, what in sorted(self.lives):
            if what in ("started", "thawed") and who not in ended:
                if not working:
                    spans.append((nobody_since, at + HEAL_SECONDS))
                working.add(who)
                continue
            if what == "ended":
                ended.add(who)
            if working == {who}:
                nobody_since = at
            working.discard(who)
        return spans if working else [*spans, (nobody_since, 1e9)]

    def troubled(self, loop: str, since: float, until: float, *, harmful: bool = False) -> bool:
        """Return True if there was a fault of a loop, or of something that all loops need.

        `harmful`: count only faults that can lose work of a loop.
        """
        return any(
            each.began <= until
            and each.ended >= since
            and each.who in (loop, "")
            and not (harmful and each.harmless)
            for each in self.troubles
        )

    def written_by(self, loop: str, at: float) -> float:
        """Return the time by which an answer must be recorded, later if statements fail."""
        until = at + WRITTEN_SECONDS
        for each in sorted(self.troubles):
            if each.harmless and each.who in (loop, "") and each.began <= until:
                until = max(until, each.ended + WRITTEN_SECONDS)
        return until

    def over_at(self, flight: Flight) -> float:
        """Return when a flight ended, or its loop died; infinite if neither happened."""
        return flight.ended if flight.ended is not None else self.died.get(flight.loop, math.inf)

    def noticed_at(self, flight: Flight) -> float:
        """Return when the loop noticed the end of a flight, later if it was frozen."""
        over = flight.ended if flight.ended is not None else flight.dialled
        own = (each for each in self.frozen if each[0] == flight.loop)
        return max((until for _, since, until in own if since <= over < until), default=over)

    def unseen(self, flight: Flight) -> bool:
        """Return True for a timeout during its loop's absence, which does not count as failure."""
        return flight.error == "timeout" and any(
            who == flight.loop
            and since <= (flight.ended or flight.dialled)
            and until > flight.dialled
            and until - since >= NOTICED_AWAY_SECONDS
            for who, since, until in self.frozen
        )

    def long_absences(self, who: str) -> list[tuple[float, float]]:
        """Return the spans in which a loop was frozen for too long to keep its lease."""
        return [
            (since, until)
            for each, since, until in self.frozen
            if each == who and until - since >= UNNOTICED_SECONDS
        ]

    def ends_of(self, act: Entry) -> list[Entry]:
        """Return later acts that end this one."""
        return [
            each
            for each in self.acts
            if each["act"] == f"{act['act']} ends"
            and all(each.get(key) == act.get(key) for key in ("webhook", "host", "company"))
            and each["at"] > act["at"]
        ]

    def acts_on(self, webhook: Entry, since: float, until: float) -> list[Entry]:
        """Return acts that may change the times of this webhook's deliveries."""
        return [
            each
            for each in self.acts
            if each["began"] <= until
            and each["at"] >= since
            and each["act"] not in ("publish", "sweep", "partitions")
            and each.get("webhook", webhook["webhook"]) == webhook["webhook"]
        ]


def read(ledger: list[Entry]) -> Book:
    book = Book()
    for entry in ledger:
        at = entry["at"]
        match entry["what"]:
            case "calm":
                book.frozen = [(who, since, min(until, at)) for who, since, until in book.frozen]
            case "world":
                book.webhooks = {each["webhook"]: each for each in entry["webhooks"]}
                book.ladder = list(entry["ladder"])
                book.places = entry["loops"]
            case "settled":
                book.working = entry["loops"]
            case "act":
                book.acts.append(entry)
                for event in entry.get("events", ()):
                    book.events[event["n"]] = {**event, "act": entry}
            case "dialled":
                headers = entry["headers"]
                book.flights[entry["flight"]] = Flight(
                    entry["flight"],
                    entry["loop"],
                    entry["url"],
                    headers.get("X-Webhook-Id", ""),
                    int(headers.get("X-Webhook-Sequence", 0)),
                    json.loads(entry["body"]),
                    entry["body"],
                    headers,
                    at,
                )
            case "sent":
                book.flights[entry["flight"]].sent_at = at
            case "seen":
                book.flights[entry["flight"]].seen_at = at
            case "ended":
                flight = book.flights[entry["flight"]]
                flight.ended, flight.status, flight.error = at, entry["status"], entry["error"]
                flight.retry_after = entry["wait"]
            case "started":
                book.lives.append((at, entry["who"], "started"))
            case "stopping":
                book.lives.append((at, entry["who"], "ended"))
            case "stopped":
                book.unwell.append((at, at + STOPPED_SECONDS))
            case "crashed":
                if "OperationalError" not in entry["error"]:
                    book.crashed.append(entry)
                note_death(book, entry["who"], at)
            case "killed":
                note_death(book, entry["who"], at)
            case "frozen":
                note_frozen(book, entry["who"], at, entry["until"])
            case "database":
                note_statement(book, entry["who"], at, entry["trouble"])
            case "clock":
                book.clock_moves.append((at, entry["moved"]))
                note_trouble(book, "", at, late_until=at + CLOCK_SECONDS + ORPHANS_SECONDS)
            case "fault" if entry["fault"] == "database slow":
                until = at + entry["seconds"]
                note_trouble(book, "", at, until, until + ORPHANS_SECONDS)
            case "fault" if entry["fault"] == "database away":
                # No loop loses its lease: they only retry.
                until = at + entry["seconds"]
                book.troubles.append(Trouble(at, until + AFTER_SECONDS, "", harmless=True))
                book.unwell.append((at, until + AGAIN_SECONDS))
            case "fault" if entry["fault"] == "broker away":
                book.unheard.append((at, at + entry["seconds"]))
            case "over":
                book.deliveries = entry["deliveries"]
    return book


def note_death(book: Book, who: str, at: float) -> None:
    """Note a loop's death; if it was frozen, the others have taken over since then."""
    if any(since <= at < until for since, until in book.long_absences(who)):
        book.troubles.append(Trouble(at, at + AFTER_SECONDS, who))
    else:
        note_trouble(book, who, at)
    book.died[who] = at
    book.lives.append((at, who, "ended"))


def note_frozen(book: Book, who: str, at: float, until: float) -> None:
    book.frozen.append((who, at, until))
    if until - at < UNNOTICED_SECONDS:
        book.troubles.append(Trouble(at, until + AFTER_SECONDS, who))
        book.unwell.append((at, until + AFTER_SECONDS / 2))
        return
    # The other loops do not wait for its return.
    note_trouble(book, who, at, until, late_until=at)
    book.lives.append((at, who, "frozen"))
    book.lives.append((until, who, "thawed"))


def note_statement(book: Book, who: str, at: float, trouble: str) -> None:
    """Note a statement that was lost, or whose answer was lost."""
    if trouble == "before":
        since, last = book.breaks.get(who, (at, at))
        since = since if at - last < AFTER_SECONDS else at
        book.breaks[who] = since, at
        if at - since >= LOST_SECONDS:
            note_trouble(book, who, since, at, at)
        book.troubles.append(Trouble(at, at + AFTER_SECONDS, who, harmless=True))
        book.unwell.append((at, at + AGAIN_SECONDS))
        return
    book.unsure = True
    if trouble == "after":
        note_trouble(book, who, at)
    else:
        until = at + PATIENCE_SECONDS
        note_trouble(book, who, at, until, until + ORPHANS_SECONDS)


def note_trouble(
    book: Book,
    who: str,
    at: float,
    until: float | None = None,
    late_until: float | None = None,
) -> None:
    """Note a fault of a loop, or of all loops if `who` is empty.

    The service must recover within HEAL_SECONDS after `late_until`, or else after `at`.
    """
    book.troubles.append(Trouble(at, (until or at) + AFTER_SECONDS, who))
    book.unwell.append((at, (late_until or at) + HEAL_SECONDS))


def webhook_at(book: Book, url: str) -> Entry | None:
    return next((each for each in book.webhooks.values() if each["url"] == url), None)
