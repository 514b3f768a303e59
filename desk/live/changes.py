"""Which tickets have changed lately: read once a second for all pages that are open.

Each web process reads for itself, when somebody asks, and answers from memory: what a page costs
does not depend on how many are open. Comments and entries of a ticket get their ids while it is
held, so the highest two say whether it has changed. Over all tickets ids may be committed out of
order, so what was written within WINDOW_SECONDS is read again and compared.
Why: decision page desk-open-pages-wait-for-news.
"""

import time
from collections import deque
from dataclasses import dataclass, field
from threading import Lock
from typing import NamedTuple
from zlib import crc32

from core.data import statements
from desk.live.places import TicketPlace, brings_into, places_of
from desk.queue import queues
from tickets.history_codes import QUIET, SLEEP
from tickets.statuses import TERMINAL

# No transaction of the service takes so long.
WINDOW_SECONDS = 30
# Who asks after a longer pause is told to look at everything anew.
KEPT_SECONDS = 60
READ_EVERY_SECONDS = 0.45
COUNT_EVERY_SECONDS = 10.0
# Another process may have found the same change earlier, or its clock may go before ours.
OVERLAP_SECONDS = 3.0
MOST_CHANGES = 2_000

LATEST = """
SELECT coalesce((SELECT max(id) FROM tickets_comment), 0),
  coalesce((SELECT max(id) FROM tickets_historyentry), 0),
  extract(epoch FROM clock_timestamp())::float
"""
# A decided ticket that was opened again comes into its queues anew.
CHANGED = """
SELECT ticket_id, max(comment), max(entry), extract(epoch FROM max(created_at))::float,
  array_agg(DISTINCT kind)
FROM (
  SELECT ticket_id, id AS comment, 0::bigint AS entry, created_at, '' AS kind
  FROM tickets_comment WHERE id > %(comment)s::bigint
  UNION ALL
  SELECT ticket_id, 0, id, created_at,
    CASE WHEN was = ANY(%(terminal)s::smallint[]) AND now <> ALL(%(terminal)s::smallint[])
         THEN 'opened' ELSE kind END
  FROM tickets_historyentry
  WHERE id > %(entry)s::bigint AND kind <> ALL(%(quiet)s::text[])
) written
GROUP BY ticket_id ORDER BY max(created_at) DESC LIMIT %(most)s
"""
# When each of those who were notified lately was notified last.
NOTIFIED = """
SELECT recipient_id, extract(epoch FROM max(created_at))::float FROM tickets_notification
WHERE created_at > clock_timestamp() - make_interval(secs => %(kept)s) GROUP BY recipient_id
"""


@dataclass(frozen=True, slots=True)
class ChangedTicket:
    """What is new on a ticket: up to which comment and entry, and where that leaves it."""

    ticket_id: int
    comment: int
    entry: int
    kinds: frozenset[str]
    place: TicketPlace
    found_at: float

    @property
    def token(self) -> str:
        """As `tickets.changes.seen.Seen`."""
        return f"{self.ticket_id}-{self.comment}-{self.entry}"

    def enters(self, queue: str, me: int | None) -> bool:
        """Whether it has just come into a queue."""
        return brings_into(queue, self.kinds) and self.place.is_in(queue, me)


class Written(NamedTuple):
    """A ticket as it was read."""

    ticket_id: int
    comment: int
    entry: int
    written: float
    kinds: list[str]

    def is_newer(self, known: ChangedTicket | None) -> bool:
        return known is None or self.comment > known.comment or self.entry > known.entry

    def as_change(
        self, before: ChangedTicket | None, place: TicketPlace, found_at: float
    ) -> ChangedTicket:
        return ChangedTicket(
            self.ticket_id,
            max(self.comment, before.comment if before else 0),
            max(self.entry, before.entry if before else 0),
            frozenset(self.kinds),
            place,
            found_at,
        )


@dataclass
class Snapshot:
    """What changed within the last KEPT_SECONDS, as of `at`."""

    at: float = 0.0
    changes: dict[int, ChangedTicket] = field(default_factory=dict)
    notified: dict[int, float] = field(default_factory=dict)
    # The badges that all see alike, and when they were counted.
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def counted(self) -> int:
        """Another where a badge is another."""
        return crc32(repr(sorted(self.counts.items())).encode())

    def since(self, when: float) -> list[ChangedTicket]:
        """What was found since, or may have been."""
        after = when - OVERLAP_SECONDS
        return [one for one in self.changes.values() if one.found_at > after]


class Watcher:
    """Reads what has changed, at most once in READ_EVERY_SECONDS however many ask."""

    clock = staticmethod(time.time)

    def __init__(self) -> None:
        self.lock = Lock()
        self.snapshot = Snapshot()
        self.counted_at = 0.0
        # Up to which ids there was something to read, and when.
        self.marks: deque[tuple[float, int, int]] = deque()

    def current(self) -> Snapshot:
        """The newest there is; while another thread reads, what it read before."""
        if self.clock() - self.snapshot.at < READ_EVERY_SECONDS:
            return self.snapshot
        if not self.lock.acquire(blocking=not self.snapshot.at):
            return self.snapshot
        try:
            if self.clock() - self.snapshot.at >= READ_EVERY_SECONDS:
                self.snapshot = self.read()
            return self.snapshot
        finally:
            self.lock.release()

    def read(self) -> Snapshot:
        now, known = self.clock(), self.snapshot
        ((comment, entry, database_now),) = statements.fetch_rows(LATEST, {})
        first = not self.marks or now - known.at > WINDOW_SECONDS
        if not first and (comment < self.marks[-1][1] or entry < self.marks[-1][2]):
            # Another database, or an older one that was restored.
            first, known = True, Snapshot()
        rows = self.rows_written(now, comment, entry, anew=first)
        new = [row for row in rows if row.is_newer(known.changes.get(row.ticket_id))]
        if first:
            # What came before is told by when it was written.
            new = [row for row in new if row.written > database_now - KEPT_SECONDS]
        # What is read again must be known for as long as it is.
        again = {row.ticket_id for row in rows}
        changes = {
            pk: one
            for pk, one in known.changes.items()
            if pk in again or one.found_at > now - KEPT_SECONDS
        }
        places = places_of([row.ticket_id for row in new])
        for row in new:
            if (place := places.get(row.ticket_id)) is not None:
                found_at = now - (database_now - row.written) if first else now
                before = changes.get(row.ticket_id)
                changes[row.ticket_id] = row.as_change(before, place, found_at)
        notified = dict(statements.fetch_rows(NOTIFIED, {"kept": KEPT_SECONDS}))
        counts = known.counts
        if now - self.counted_at >= COUNT_EVERY_SECONDS:
            counts, self.counted_at = queues.count_for_all(), now
        return Snapshot(now, changes, notified, counts)

    def rows_written(self, now: float, comment: int, entry: int, *, anew: bool) -> "list[Written]":
        """What has ids from WINDOW_SECONDS ago on, and in a new process, of late."""
        if anew:
            self.marks = deque([(now, max(0, comment - 1000), max(0, entry - 1000))])
        while len(self.marks) > 1 and self.marks[1][0] <= now - WINDOW_SECONDS:
            self.marks.popleft()
        _, from_comment, from_entry = self.marks[0]
        self.marks.append((now, comment, entry))
        facts = {
            "comment": from_comment,
            "entry": from_entry,
            "terminal": [status.value for status in TERMINAL],
            "quiet": [kind.value for kind in QUIET - SLEEP],
            "most": MOST_CHANGES,
        }
        return [Written(*row) for row in statements.fetch_rows(CHANGED, facts)]


WATCHER = Watcher()
