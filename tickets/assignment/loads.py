"""Keeps the table of the agents' loads short, and checks that it is right.

Triggers write it, in the transactions that change tickets. No statement here takes a lock that a
change of a ticket waits for (decision page tickets-loads-are-kept-as-sums).
"""

import logging

from django.db import connection, transaction
from django.db.models import Count

from tickets.models import Ticket

logger = logging.getLogger(__name__)

# One assignment in so many sums up what the others have left behind.
SUM_UP_EVERY = 100

# In one statement, so that everybody sees either the rows or their sum. What somebody else is
# summing up is left to them.
SUM_UP = """
WITH old AS (
  SELECT id FROM tickets_loadchange FOR UPDATE SKIP LOCKED
), gone AS (
  DELETE FROM tickets_loadchange USING old WHERE tickets_loadchange.id = old.id
  RETURNING agent_id, status, change
)
INSERT INTO tickets_loadchange (agent_id, status, change)
SELECT agent_id, status, sum(change) FROM gone GROUP BY agent_id, status HAVING sum(change) <> 0
"""

# One snapshot of both, in which they agree unless a ticket was changed behind the triggers' back.
# What is missing is added as one more change, which is right whatever else is added meanwhile.
REPAIR = """
WITH counted (agent_id, status, tickets) AS ({counted}), kept AS (
  SELECT agent_id, status, sum(change) AS tickets FROM tickets_loadchange GROUP BY agent_id, status
), wrong AS (
  INSERT INTO tickets_loadchange (agent_id, status, change)
  SELECT agent_id, status, coalesce(counted.tickets, 0) - coalesce(kept.tickets, 0)
  FROM counted FULL JOIN kept USING (agent_id, status)
  WHERE coalesce(counted.tickets, 0) <> coalesce(kept.tickets, 0)
  RETURNING agent_id, change
)
SELECT agent_id, sum(abs(change)) FROM wrong GROUP BY agent_id ORDER BY agent_id
"""


def sum_up_later(ticket_id: int) -> None:
    """Once in SUM_UP_EVERY tickets, when the assignment is committed."""
    if ticket_id % SUM_UP_EVERY == 0:
        transaction.on_commit(sum_up, robust=True)


def sum_up() -> None:
    """Put one row in the place of all that are of the same agent and status."""
    with connection.cursor() as cursor:
        cursor.execute(SUM_UP)


def check_loads() -> int:
    """Count the open tickets of all agents, and mend the loads that differ; returns how many did.

    Each is logged as an error: somebody has changed tickets and kept the triggers from seeing it.
    """
    mine = (
        Ticket.objects.open().filter(agent__isnull=False).order_by().values_list("agent", "status")
    )
    counted, values = mine.annotate(tickets=Count("*")).query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(REPAIR.format(counted=counted), values)
        wrong = cursor.fetchall()
    for agent_id, tickets in wrong:
        logger.error(
            "the load of agent %s was wrong by %s tickets and is mended", agent_id, tickets
        )
    sum_up()
    return len(wrong)
