"""Recent changes of tickets, read about once a second for all open pages.

Each web process reads when a page asks, and answers from memory: the cost does not depend on the
number of open pages. Comments and entries of a ticket get their ids while it is locked, so the
highest two show whether it changed. Across tickets ids may be committed out of order, so rows of
the last WINDOW_SECONDS are read again and compared.
The reasons: decision page desk-open-pages-wait-for-news.
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

# Longer than any transaction of the service.
WINDOW_SECONDS = 30
# A page that asks after a longer pause must reload everything.
CACHE_SECONDS = 60
READ_EVERY_SECONDS = 0.45
COUNT_EVERY_SECONDS = 10.0
# Another process may have found the same change earlier, or have a clock ahead of ours.
OVERLAP_SECONDS = 3.0
MOST_CHANGES = 2_000

LATEST = """
SELECT coalesce((SELECT max(id) FROM tickets_comment), 0),
  coalesce((SELECT max(id) FROM tickets_historyentry), 0),
  extract(epoch FROM clock_timestamp())::float
"""
# A reopened ticket enters its queues again, so its move counts as an opening.
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
# Time of the latest notification of each user who was notified lately.
NOTIFIED = """
SELECT recipient_id, extract(epoch FROM max(created_at))::float FROM tickets_notification
WHERE created_at > clock_timestamp() - make_interval(secs => %(kept)s) GROUP BY recipient_id
"""


@dataclass(frozen=True, slots=True)
class ChangedTicket:
    """A changed ticket: its newest comment and entry, and its place after the change."""

    ticket_id: int
    comment: int
    entry: int
    kinds: frozenset[str]
    place: TicketPlace
    found_at: float

    @property
    def token(self) -> str:
        """Token in the form of `tickets.changes.page_tokens.PageToken`."""
        return f"{self.ticket_id}-{self.comment}-{self.entry}"

    def enters(self, queue: str, me: int | None) -> bool:
        return brings_into(queue, self.kinds) and self.place.is_in(queue, me)


class ChangedRow(NamedTuple):
    """A row of the query CHANGED."""

    ticket_id: int
    comment: int
    entry: int
    written_at: float
    kinds: list[str]

    def is_newer(self, change: ChangedTicket | None) -> bool:
        return change is None or self.comment > change.comment or self.entry > change.entry

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
    """The changes of the last CACHE_SECONDS, as of `at`."""

    at: float = 0.0
    changes: dict[int, ChangedTicket] = field(default_factory=dict)
    notified: dict[int, float] = field(default_factory=dict)
    # Counts of the queues that are the same for all users.
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def counts_digest(self) -> int:
        """Checksum by which a page recognizes that a badge changed."""
        return crc32(repr(sorted(self.counts.items())).encode())

    def since(self, when: float) -> list[ChangedTicket]:
        """Return the changes found since then, with an overlap of OVERLAP_SECONDS."""
        after = when - OVERLAP_SECONDS
        return [one for one in self.changes.values() if one.found_at > after]


class Watcher:
    """Reader of changes, at most once in READ_EVERY_SECONDS for any number of callers."""

    clock = staticmethod(time.time)

    def __init__(self) -> None:
        self.lock = Lock()
        self.snapshot = Snapshot()
        self.counted_at = 0.0
        # Times of earlier reads, with the highest ids of comments and entries at each.
        self.marks: deque[tuple[float, int, int]] = deque()

    def current(self) -> Snapshot:
        """Return a fresh snapshot, or the previous one while another thread is reading."""
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
        now, previous = self.clock(), self.snapshot
        ((comment, entry, database_now),) = statements.fetch_rows(LATEST, {})
        first = not self.marks or now - previous.at > WINDOW_SECONDS
        if not first and (comment < self.marks[-1][1] or entry < self.marks[-1][2]):
            # Lower ids: an older backup was restored, or it is another database.
            first, previous = True, Snapshot()
        rows = self.recent_rows(now, comment, entry, anew=first)
        new = [row for row in rows if row.is_newer(previous.changes.get(row.ticket_id))]
        if first:
            # No earlier read to compare with: the time of writing decides what is recent.
            new = [row for row in new if row.written_at > database_now - CACHE_SECONDS]
        # Keep a change while its rows are still read, or it would be found as new again.
        reread_ids = {row.ticket_id for row in rows}
        changes = {
            pk: change
            for pk, change in previous.changes.items()
            if pk in reread_ids or change.found_at > now - CACHE_SECONDS
        }
        places = places_of([row.ticket_id for row in new])
        for row in new:
            if (place := places.get(row.ticket_id)) is not None:
                found_at = now - (database_now - row.written_at) if first else now
                before = changes.get(row.ticket_id)
                changes[row.ticket_id] = row.as_change(before, place, found_at)
        notified = dict(statements.fetch_rows(NOTIFIED, {"kept": CACHE_SECONDS}))
        counts = previous.counts
        if now - self.counted_at >= COUNT_EVERY_SECONDS:
            counts, self.counted_at = queues.count_for_all(), now
        return Snapshot(now, changes, notified, counts)

    def recent_rows(
        self, now: float, comment: int, entry: int, *, anew: bool
    ) -> "list[ChangedRow]":
        """Read the tickets with ids above those of WINDOW_SECONDS ago; `anew`, the latest 1000."""
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
        return [ChangedRow(*row) for row in statements.fetch_rows(CHANGED, facts)]


WATCHER = Watcher()
