"""Compaction and verification of the table of agents' loads.

Triggers write it in the transactions that change tickets. No statement here takes a lock that a
change of a ticket waits for (decision page tickets-loads-are-kept-as-sums).
"""

import logging

from django.db import connection, transaction
from django.db.models import Count

from tickets.models import Ticket

logger = logging.getLogger(__name__)

# One assignment in SUM_UP_EVERY compacts the rows of the others.
SUM_UP_EVERY = 100

# A single statement, so that readers see either the rows or their sum. Rows that a concurrent run
# is summing up are skipped.
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

# One snapshot of both, in which they agree unless a ticket was changed without the triggers.
# The difference is inserted as a change, which is correct even if others are added concurrently.
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
    """Compact the table after the commit, for one ticket in SUM_UP_EVERY."""
    if ticket_id % SUM_UP_EVERY == 0:
        transaction.on_commit(sum_up, robust=True)


def sum_up() -> None:
    """Replace the rows of each agent and status by their sum."""
    with connection.cursor() as cursor:
        cursor.execute(SUM_UP)


def check_loads() -> int:
    """Count the open tickets of all agents, and repair wrong loads; returns their number.

    Each is logged as an error: tickets were changed while the triggers were disabled.
    """
    tickets_of_agents = (
        Ticket.objects.open().filter(agent__isnull=False).order_by().values_list("agent", "status")
    )
    count_sql, values = tickets_of_agents.annotate(tickets=Count("*")).query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(REPAIR.format(counted=count_sql), values)
        wrong = cursor.fetchall()
    for agent_id, tickets in wrong:
        logger.error(
            "the load of agent %s was wrong by %s tickets and is mended", agent_id, tickets
        )
    sum_up()
    return len(wrong)
