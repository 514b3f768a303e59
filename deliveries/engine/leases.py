"""Leases of the engine loops of all hosts: rows with a heartbeat, to replace loops that hang.

A loop renews its lease every second. Whichever loop first sees an expired lease marks its owner as
lost. A lost loop can neither renew nor claim; other loops take over its webhooks and its claims.
Times are the database's.

A heartbeat is a row of its own. While a transaction stays open, such as a dump's, PostgreSQL keeps
every version that heartbeats have written. Claims, which read the loops many times a second, must
not walk through these.
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
from deliveries.engine.fronts import BEGINNING
from deliveries.models import Heartbeat

LEASE_SECONDS = 4.0
HEARTBEAT_SECONDS = 1.0
# The server ends a frozen loop's transaction before its lease ends: claims pass by rows that are
# locked, so whoever takes over would not find its deliveries.
IDLE_IN_TRANSACTION_SECONDS = 2.0
# The row of a lost loop must outlive all of its claims.
FORGET_SECONDS = 120

# A stopping loop takes no lanes and is not counted: its successor need not wait for its last reply.
RUNNING = "SELECT count(*) FROM deliveries_loop WHERE NOT lost AND takes_lanes"

# A loop has a heartbeat exactly as long as it is not lost.
LIVE = """
SELECT count(*), coalesce(sum(busy), 0) FROM deliveries_heartbeat
WHERE lease_until > statement_timestamp()
"""

JOIN = f"""
WITH joined AS (
  INSERT INTO deliveries_loop (id, host, process_id, worker, started_at, lost, takes_lanes)
  SELECT %(loop)s, %(host)s, %(process)s, %(worker)s, statement_timestamp(), false, true
  WHERE ({RUNNING}) < %(most)s RETURNING id
)
INSERT INTO deliveries_heartbeat (loop_id, lease_until)
SELECT id, statement_timestamp() + make_interval(secs => %(lease)s) FROM joined
"""  # noqa: S608 - of our own

# Ask the worker with the most loops for a place, if it has at least two more than this worker.
# One loop at a time yields.
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

# The statement of an idle loop, once a second. It writes the loop's row only when the loop
# begins to stop. If it waits while others mark the loop as lost, it finds the heartbeat deleted.
RENEW = """
WITH beat AS (
  UPDATE deliveries_heartbeat SET busy = %(busy)s, proxy_trouble = %(proxy_trouble)s,
    front = %(front)s,
    lease_until = statement_timestamp() + make_interval(secs => %(lease)s)
  WHERE loop_id = %(loop)s RETURNING loop_id
), stopped AS (
  UPDATE deliveries_loop SET takes_lanes = false
  WHERE id = ANY(ARRAY(SELECT loop_id FROM beat)) AND takes_lanes AND %(stops)s
)
SELECT
  EXISTS (SELECT FROM deliveries_heartbeat AS other
    WHERE other.loop_id <> %(loop)s AND other.lease_until <= statement_timestamp()),
  EXISTS (SELECT FROM deliveries_wakeup
    WHERE due_at BETWEEN %(since)s AND statement_timestamp()),
  statement_timestamp(), own.yields, EXISTS (SELECT FROM deliveries_drain),
  ARRAY(SELECT host::text FROM deliveries_heldhost
    WHERE coalesce(held_until > statement_timestamp(), true)),
  NOT EXISTS (SELECT FROM deliveries_loop AS other
    JOIN deliveries_heartbeat AS heartbeat ON heartbeat.loop_id = other.id
    WHERE other.takes_lanes AND heartbeat.lease_until > statement_timestamp()
      AND (other.started_at, other.id) < (own.started_at, own.id))
FROM beat CROSS JOIN deliveries_loop AS own WHERE own.id = %(loop)s
"""

# A loop that freezes while it takes over from another must not stop those that would do the same:
# what it has locked is looked at again with the next heartbeat. Both rows of a silent loop are
# locked: a heartbeat may be under way, or somebody may be transferring webhooks to the loop.
LOSE = """
WITH silent AS MATERIALIZED (
  SELECT loop.id FROM deliveries_heartbeat AS heartbeat
  JOIN deliveries_loop AS loop ON loop.id = heartbeat.loop_id
  WHERE heartbeat.lease_until <= statement_timestamp()
  FOR UPDATE SKIP LOCKED
), old AS MATERIALIZED (
  SELECT id FROM deliveries_loop
  WHERE lost_at <= statement_timestamp() - make_interval(secs => %(forget)s)
  FOR UPDATE SKIP LOCKED
), forgotten AS (
  DELETE FROM deliveries_loop WHERE id = ANY(ARRAY(SELECT id FROM old))
), ended AS (
  DELETE FROM deliveries_heartbeat WHERE loop_id = ANY(ARRAY(SELECT id FROM silent))
)
UPDATE deliveries_loop SET lost = true, lost_at = statement_timestamp()
WHERE id = ANY(ARRAY(SELECT id FROM silent)) RETURNING id::text
"""

# Two statements, because the parts of one run in any order: like RENEW, lock the heartbeat first.
END_HEARTBEAT = "DELETE FROM deliveries_heartbeat WHERE loop_id = %(loop)s"
LEAVE = "DELETE FROM deliveries_loop WHERE id = %(loop)s"

# Webhooks of loops that have ended are free for any loop, and each gets a wake-up. It is a separate
# statement, so that it also sees lanes that were handed to the loops just before they ended.
FREED = """
WITH freed AS (
  DELETE FROM deliveries_lane WHERE {condition} RETURNING webhook_id
)
INSERT INTO deliveries_wakeup (webhook_id, due_at)
SELECT webhook_id, statement_timestamp() FROM freed
"""
FREE = FREED.format(condition="loop_id = ANY(%(loops)s::uuid[])")
# A loop declared lost while its statement was in flight may have taken lanes afterwards.
FREE_ORPHANED = FREED.format(
    condition="loop_id <> ALL(ARRAY(SELECT id FROM deliveries_loop WHERE NOT lost))"
)


def join(most: int) -> str | None:
    """Start a lease and return the new loop's id, or None if `most` loops are already running.

    In that case a worker that has more than its share is asked to give up a loop.
    """
    host = socket.gethostname()[:255]
    # Loops of one worker share a parent process.
    worker = f"{host}/{os.getppid()}"
    with connection.cursor() as cursor:
        cursor.execute(RUNNING)
        if cursor.fetchone()[0] >= most:
            cursor.execute(ASK_FOR_PLACE, {"worker": worker})
            return None
    loop_id = str(uuid4())
    with transaction.atomic(), connection.cursor() as cursor:
        # Two loops that count at the same time must not both get the last free place.
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


class Renewal(NamedTuple):
    """State of the engine as of a heartbeat. `at`: the database's time.

    `silent_loops`: other loops have expired leases. `wakeups`: some are due. `yields`: this loop
    must give up its place to another worker. `draining`: claim nothing. `held_hosts`: send nothing
    to them. `first`: no loop that takes lanes is older.
    """

    silent_loops: bool
    wakeups: bool
    at: datetime
    yields: bool
    draining: bool
    held_hosts: list[str]
    first: bool


def renew(
    loop_id: str,
    busy: int = 0,
    proxy_trouble: str = "",
    stops: bool = False,
    since: datetime = BEGINNING,
    front: datetime | None = None,
) -> Renewal | None:
    """Send a heartbeat that extends the lease; None if other loops have marked this one as lost.

    `busy`: slots in use. `stops`: the loop takes no further lanes. `since`: do not look for
    wake-ups that were due before. `front`: the loop knows of none before.
    """
    with statements.cursor() as cursor:
        state = {"busy": busy, "proxy_trouble": proxy_trouble[:200], "stops": stops}
        values = {"loop": loop_id, "lease": LEASE_SECONDS, "since": since, "front": front, **state}
        cursor.execute(RENEW, values)
        row = cursor.fetchone()
    return Renewal(*row) if row else None


class LiveLoops(NamedTuple):
    """Number of loops with a lease, and of the slots that they use."""

    loops: int
    busy: int


def running_loops() -> LiveLoops:
    with connection.cursor() as cursor:
        cursor.execute(LIVE)
        return LiveLoops(*cursor.fetchone())


def proxy_troubles() -> list[str]:
    """Return the trouble with the outgoing proxy that loops with a lease report, one per loop."""
    alive = Heartbeat.objects.filter(lease_until__gt=timezone.now())
    return list(alive.exclude(proxy_trouble="").values_list("proxy_trouble", flat=True))


def take_over() -> list[str]:
    """Mark loops with expired leases as lost and free their webhooks; returns their ids.

    Only for callers that have renewed in time themselves: after a stall of the database all leases
    have expired although no loop is lost.
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
    """Free webhooks of loops that have ended; returns their number."""
    with statements.cursor() as cursor:
        cursor.execute(FREE_ORPHANED)
        return cursor.rowcount


def leave(loop_id: str) -> None:
    """End a lease. The loop must have released its webhooks.

    Webhooks that other loops have handed to it without its knowledge are freed.
    """
    with transaction.atomic(), statements.cursor() as cursor:
        cursor.execute(END_HEARTBEAT, {"loop": loop_id})
        cursor.execute(LEAVE, {"loop": loop_id})
        cursor.execute(FREE, {"loops": [loop_id]})
