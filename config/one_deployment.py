"""A database belongs to one deployment: a process of another does not start.

A second host whose variables differ would have queues and a cache of its own, and nobody would
notice: rate limits counted twice, doorbells that nobody hears. The key of the queues
(config.deployments) is therefore stored in the database.
"""

import logging

from django.conf import settings
from django.db import connection, transaction

from config.startup import refuse
from core.data import database

logger = logging.getLogger(__name__)

# A start does not wait for a database that is away: processes start without one.
PATIENCE_SECONDS = 5.0
STORED = "SELECT key FROM core_deployment WHERE id = 1 FOR NO KEY UPDATE"
STORE = "UPDATE core_deployment SET key = %s WHERE id = 1"
AT_WORK = """
SELECT host FROM deliveries_loop
WHERE NOT lost AND lease_until > statement_timestamp() ORDER BY started_at LIMIT 1
"""


def refuse_second_deployment() -> None:
    """Raise SystemExit, and say what to set, if another deployment uses the database."""
    database.wait_at_most(PATIENCE_SECONDS)
    own = settings.DEPLOYMENT_KEY
    try:
        stored, host = claim_database(own)
    except Exception as error:  # whatever keeps us from asking is no reason not to start
        logger.debug("the deployment of the database is not known: %s", error)
        return
    finally:
        connection.close()
    if stored != own:
        refuse(
            [
                f"- The database is in use by another deployment, {stored}, on {host}; the settings"
                f" of this process make it {own}. Set DEPLOYMENT={stored}, or what DEPLOYMENT is"
                f" there. To give the deployment another name, stop it on all hosts first."
            ]
        )


def claim_database(own: str) -> tuple[str, str]:
    """Store this deployment's key unless another one is at work; returns the key, and where."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(STORED)
        row = cursor.fetchone()
        stored = str(row[0]) if row else own
        cursor.execute(AT_WORK)
        found = cursor.fetchone()
        if stored == own or (stored and found):
            return stored, found[0] if found else ""
        cursor.execute(STORE, [own])
    if stored:
        logger.warning("the database was of the deployment %s and is of %s now", stored, own)
    return own, ""
