"""The ledger of a run, put in order for the judge. It imports nothing of the service."""

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Entry = dict[str, Any]
# The engine writes an answer down within this time, unless something is wrong meanwhile.
WRITTEN_SECONDS = 1.0
# A fault reaches so far beyond its end: the loop tries again, and learns that it was given up.
AFTER_SECONDS = 2.0
# A loop gives up a statement that hangs after this time.
PATIENCE_SECONDS = 10.0
# Another loop takes over from a lost one within a lease of four seconds and a heartbeat; lanes that
# a loop took after it was given up are found every five seconds.
HEAL_SECONDS, ORPHANS_SECONDS = 6.0, 5.0
# A loop that could not reach the database has done so within this time.
AGAIN_SECONDS = 3.0
# Nobody gives up a loop that is frozen for less, and it goes on at once. From this on it also knows
# itself that it was away.
UNNOTICED_SECONDS, NOTICED_AWAY_SECONDS = 2.9, 2.0
# Time within which the others take what a stopping loop releases.
STOPPED_SECONDS = 1.0
# Clocks are put forward and back by this much at most.
CLOCK_SECONDS = 3.5
# Acts that last until somebody ends them; nothing is sent meanwhile.
LASTING = ("pause", "hold", "drain", "company off")


@dataclass
class Flight:
    """A request: from its first byte to the moment the loop has its answer."""

    number: int
    loop: str
    url: str
    id: str
    sequence: int
    said: Entry
    body: str
    headers: dict[str, str]
    dialled: float
    sent: float | None = None
    seen: float | None = None
    ended: float | None = None
    status: int | None = None
    error: str = ""
    # Seconds for which the receiver asked to be left alone.
    retry_after: float | None = None

    @property
    def well(self) -> bool:
        return self.status is not None and 200 <= self.status <= 299

    @property
    def failed(self) -> bool:
        return self.ended is not None and not self.well and self.error != "not_sent"


class Trouble(NamedTuple):
    """A fault of a loop, or of all of them where `who` is empty.

    A harmless one loses nothing that a loop has done: it only delays it.
    """

    began: float
    ended: float
    who: str
    harmless: bool = False


@dataclass
class Book:
    """The ledger, put in order."""

    webhooks: dict[int, Entry] = field(default_factory=dict)
    ladder: list[float] = field(default_factory=list)
    # Loops that there should be, and those with a lease when all is over.
    places: int = 0
    working: int = 0
    # The clock of the database was put forward or back.
    clock_moved: bool = False
    # Something may have been written down twice, as its answer was lost.
    unsure: bool = False
    events: dict[int, Entry] = field(default_factory=dict)
    flights: dict[int, Flight] = field(default_factory=dict)
    acts: list[Entry] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)
    crashed: list[Entry] = field(default_factory=list)
    # Spans in which something may be late.
    unwell: list[tuple[float, float]] = field(default_factory=list)
    # Spans in which nobody hears the doorbell.
    unheard: list[tuple[float, float]] = field(default_factory=list)
    # Loops that were frozen, from when to when, and when loops died.
    frozen: list[tuple[str, float, float]] = field(default_factory=list)
    died: dict[str, float] = field(default_factory=dict)
    # Times, loops and what happened to them: started, frozen, thawed, ended.
    lives: list[tuple[float, str, str]] = field(default_factory=list)
    # The service's own word on each delivery in the end.
    deliveries: list[Entry] = field(default_factory=list)

    def by_delivery(self, flights: Iterable[Flight] | None = None) -> dict[str, list[Flight]]:
        found = defaultdict(list)
        for flight in self.flights.values() if flights is None else flights:
            found[flight.id].append(flight)
        return found

    def disturbed(self) -> list[tuple[float, float]]:
        """Return the spans in which something was wrong or the service had not yet got over it."""
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
        """Return whether anything was wrong with a loop, or with what all of them need.

        `harmful`: only what can have a loop forget what it has done.
        """
        return any(
            each.began <= until
            and each.ended >= since
            and each.who in (loop, "")
            and not (harmful and each.harmless)
            for each in self.troubles
        )

    def written_by(self, loop: str, at: float) -> float:
        """Return when an answer of that time is written down: not while that only fails."""
        until = at + WRITTEN_SECONDS
        for each in sorted(self.troubles):
            if each.harmless and each.who in (loop, "") and each.began <= until:
                until = max(until, each.ended + WRITTEN_SECONDS)
        return until

    def noticed_at(self, flight: Flight) -> float:
        """Return when its loop noticed that a flight had ended: not while it was frozen."""
        over = flight.ended if flight.ended is not None else flight.dialled
        own = (each for each in self.frozen if each[0] == flight.loop)
        return max((until for _, since, until in own if since <= over < until), default=over)

    def unseen(self, flight: Flight) -> bool:
        """Return whether its time went by while its loop was away: that is no failure."""
        return flight.error == "timeout" and any(
            who == flight.loop
            and since <= (flight.ended or flight.dialled)
            and until > flight.dialled
            and until - since >= NOTICED_AWAY_SECONDS
            for who, since, until in self.frozen
        )

    def ends_of(self, act: Entry) -> list[Entry]:
        """Return the later acts that end this one."""
        return [
            each
            for each in self.acts
            if each["act"] == f"{act['act']} ends"
            and all(each.get(key) == act.get(key) for key in ("webhook", "host", "company"))
            and each["at"] > act["at"]
        ]

    def acts_on(self, webhook: Entry, since: float, until: float) -> list[Entry]:
        """Return acts after which this webhook's deliveries may be sent at other times."""
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
                book.flights[entry["flight"]].sent = at
            case "seen":
                book.flights[entry["flight"]].seen = at
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
                book.clock_moved = True
                note_trouble(book, "", at, late_until=at + CLOCK_SECONDS + ORPHANS_SECONDS)
            case "fault" if entry["fault"] == "database slow":
                until = at + entry["seconds"]
                note_trouble(book, "", at, until, until + ORPHANS_SECONDS)
            case "fault" if entry["fault"] == "database away":
                # Nobody is given up: they only try again.
                until = at + entry["seconds"]
                book.troubles.append(Trouble(at, until + AFTER_SECONDS, "", harmless=True))
                book.unwell.append((at, until + AGAIN_SECONDS))
            case "fault" if entry["fault"] == "broker away":
                book.unheard.append((at, at + entry["seconds"]))
            case "over":
                book.deliveries = entry["deliveries"]
    return book


def note_death(book: Book, who: str, at: float) -> None:
    note_trouble(book, who, at)
    book.died[who] = at
    book.lives.append((at, who, "ended"))


def note_frozen(book: Book, who: str, at: float, until: float) -> None:
    book.frozen.append((who, at, until))
    if until - at < UNNOTICED_SECONDS:
        book.troubles.append(Trouble(at, until + AFTER_SECONDS, who))
        book.unwell.append((at, until + AFTER_SECONDS / 2))
        return
    # The others do not wait until it thaws.
    note_trouble(book, who, at, until, late_until=at)
    book.lives.append((at, who, "frozen"))
    book.lives.append((until, who, "thawed"))


def note_statement(book: Book, who: str, at: float, trouble: str) -> None:
    """Note a statement that was lost, or whose answer was."""
    if trouble == "before":
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
    """Note what was wrong with a loop, or with all where `who` is empty.

    HEAL_SECONDS after `late_until`, else after `at`, the service must have got over it.
    """
    book.troubles.append(Trouble(at, (until or at) + AFTER_SECONDS, who))
    book.unwell.append((at, (late_until or at) + HEAL_SECONDS))


def webhook_at(book: Book, url: str) -> Entry | None:
    return next((each for each in book.webhooks.values() if each["url"] == url), None)
