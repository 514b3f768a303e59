"""Engine loops over all hosts: rows with a heartbeat, so that a loop that hangs is replaced.

A loop renews its lease every second. One whose lease has run out is marked as lost by whoever sees
it first, and from then on can neither renew nor claim: what it was working on goes to others, and
its claims with it. Time is the database's.
Why: decision page engine-loops-hold-leases.
"""

import os
import socket
from datetime import datetime
from typing import NamedTuple
from uuid import uuid4

from django.db import connection, transaction
from django.utils import timezone

from core.data import locks
from core.measures import catalogue, counting
from deliveries import statements
from deliveries.models import Loop

LEASE_SECONDS = 4.0
HEARTBEAT_SECONDS = 1.0
# The row of a lost loop stays for longer than any of its claims could.
FORGET_SECONDS = 120

# A loop that stops takes no lanes any more: who comes for it need not wait for its last answer.
RUNNING = "SELECT count(*) FROM deliveries_loop WHERE NOT lost AND takes_lanes"

LIVE = """
SELECT count(*), coalesce(sum(busy), 0) FROM deliveries_loop
WHERE NOT lost AND lease_until > statement_timestamp()
"""

JOIN = f"""
INSERT INTO deliveries_loop
  (id, host, process_id, worker, started_at, lease_until, lost, takes_lanes)
SELECT %(loop)s, %(host)s, %(process)s, %(worker)s, statement_timestamp(),
  statement_timestamp() + make_interval(secs => %(lease)s), false, true
WHERE ({RUNNING}) < %(most)s
"""

# A worker that has two loops more than one whose loops wait gives up a place, one at a time.
ASK_FOR_PLACE = """
UPDATE deliveries_loop SET yields = true WHERE id = (
  SELECT loop.id FROM deliveries_loop AS loop JOIN (
    SELECT worker, count(*) AS loops, bool_or(yields) AS asked FROM deliveries_loop
    WHERE NOT lost AND takes_lanes AND worker <> '' GROUP BY worker) AS team USING (worker)
  WHERE NOT loop.lost AND loop.takes_lanes AND NOT team.asked AND worker <> %(worker)s
    AND team.loops >= 2 + (
      SELECT count(*) FROM deliveries_loop WHERE NOT lost AND worker = %(worker)s)
  ORDER BY team.loops DESC, loop.started_at DESC LIMIT 1)
"""

# All that an idle loop asks, once a second.
RENEW = """
UPDATE deliveries_loop SET busy = %(busy)s, proxy_trouble = %(proxy_trouble)s,
  lease_until = statement_timestamp() + make_interval(secs => %(lease)s),
  takes_lanes = takes_lanes AND NOT %(stops)s
WHERE id = %(loop)s AND NOT lost
RETURNING
  EXISTS (SELECT FROM deliveries_loop AS other
    WHERE NOT other.lost AND other.id <> %(loop)s
      AND other.lease_until <= statement_timestamp()),
  EXISTS (SELECT FROM deliveries_wakeup WHERE due_at <= statement_timestamp()),
  statement_timestamp(), yields, EXISTS (SELECT FROM deliveries_drain),
  ARRAY(SELECT host::text FROM deliveries_heldhost
    WHERE coalesce(held_until > statement_timestamp(), true)),
  NOT EXISTS (SELECT FROM deliveries_loop AS other
    WHERE NOT other.lost AND other.takes_lanes AND other.lease_until > statement_timestamp()
      AND (other.started_at, other.id) < (deliveries_loop.started_at, deliveries_loop.id))
"""

LOSE = """
WITH lost AS (
  UPDATE deliveries_loop SET lost = true
  WHERE NOT lost AND lease_until <= statement_timestamp() RETURNING id
), forgotten AS (
  DELETE FROM deliveries_loop
  WHERE lost AND lease_until < statement_timestamp() - make_interval(secs => %(forget)s)
)
SELECT id::text FROM lost
"""

LEAVE = "DELETE FROM deliveries_loop WHERE id = %(loop)s"

# Webhooks of loops that are no more become anybody's: a wake-up for each says so. A statement of
# its own, which sees what was given to them until their rows could be written.
FREED = """
WITH freed AS (
  DELETE FROM deliveries_lane WHERE {whose} RETURNING webhook_id
)
INSERT INTO deliveries_wakeup (webhook_id, due_at)
SELECT webhook_id, statement_timestamp() FROM freed
"""
FREE = FREED.format(whose="loop_id = ANY(%(loops)s::uuid[])")
# A loop that was given up while its statement was on its way may have taken some since.
FREE_ORPHANED = FREED.format(
    whose="loop_id <> ALL(ARRAY(SELECT id FROM deliveries_loop WHERE NOT lost))"
)


def join(most: int) -> str | None:
    """The id of a new loop with a lease, or None where `most` loops are running already.

    Then a worker that has more of them than its part is asked for a place.
    """
    host = socket.gethostname()[:255]
    # Loops of one worker have a parent in common.
    worker = f"{host}/{os.getppid()}"
    with connection.cursor() as cursor:
        cursor.execute(RUNNING)
        if cursor.fetchone()[0] >= most:
            cursor.execute(ASK_FOR_PLACE, {"worker": worker})
            return None
    loop_id = str(uuid4())
    with transaction.atomic(), connection.cursor() as cursor:
        # Two that count at the same time must not both find the last free place.
        locks.hold(locks.LockClass.LOOPS)
        values: dict[str, str | int | float] = {
            "loop": loop_id,
            "host": host,
            "process": os.getpid(),
            "worker": worker,
            "lease": LEASE_SECONDS,
            "most": most,
        }
        cursor.execute(JOIN, values)
        return loop_id if cursor.rowcount else None


class Renewed(NamedTuple):
    """What a heartbeat sees: loops whose lease has run out, wake-ups that are due, and the time.

    `yields`: whether this loop is to give up its place for one of another worker. `draining`:
    nothing is to be claimed. `held`: hosts to which nothing is to be sent. `first`: no loop that
    takes lanes is older.
    """

    silent_loops: bool
    wakeups: bool
    at: datetime
    yields: bool
    draining: bool
    held: list[str]
    first: bool


def renew(
    loop_id: str, busy: int = 0, proxy_trouble: str = "", stops: bool = False
) -> Renewed | None:
    """The heartbeat, which says how many slots are `busy`, what is wrong with the outgoing proxy,
    and whether the loop `stops`; None where it was given up by the others.
    """
    with statements.cursor() as cursor:
        said = {"busy": busy, "proxy_trouble": proxy_trouble[:200], "stops": stops}
        cursor.execute(RENEW, {"loop": loop_id, "lease": LEASE_SECONDS, **said})
        row = cursor.fetchone()
    return Renewed(*row) if row else None


class LiveLoops(NamedTuple):
    """The loops with a lease, and the slots that they use."""

    loops: int
    busy: int


def running_loops() -> LiveLoops:
    with connection.cursor() as cursor:
        cursor.execute(LIVE)
        return LiveLoops(*cursor.fetchone())


def proxy_troubles() -> list[str]:
    """What is wrong with the outgoing proxy, of each loop with a lease that has met it."""
    alive = Loop.objects.filter(lost=False, lease_until__gt=timezone.now())
    return list(alive.exclude(proxy_trouble="").values_list("proxy_trouble", flat=True))


def take_over() -> list[str]:
    """Mark loops whose lease has run out as lost and free their webhooks; returns their ids.

    To be called only by who has not been away itself: after a stall of the database everybody's
    lease has run out, and nobody is lost.
    """
    with transaction.atomic(), statements.cursor() as cursor:
        cursor.execute(LOSE, {"forget": FORGET_SECONDS})
        lost = [loop_id for (loop_id,) in cursor.fetchall()]
        if lost:
            cursor.execute(FREE, {"loops": lost})
    if lost:
        counting.count(catalogue.LOOPS_LOST, by=len(lost))
    return lost


def free_orphaned() -> int:
    """Free webhooks that belong to a loop that is no more; returns how many."""
    with statements.cursor() as cursor:
        cursor.execute(FREE_ORPHANED)
        return cursor.rowcount


def leave(loop_id: str) -> None:
    """End a lease. What the loop was working on must have been released before.

    What others have just given to it, and it has not heard of, becomes anybody's.
    """
    with transaction.atomic(), statements.cursor() as cursor:
        cursor.execute(LEAVE, {"loop": loop_id})
        cursor.execute(FREE, {"loops": [loop_id]})
