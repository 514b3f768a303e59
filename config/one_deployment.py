"""Check at start that the database belongs to this deployment.

A second host with other variables would have its own queues and cache, unnoticed: rate limits would
be counted twice, and its doorbells would reach no worker. The key of the queues
(config.deployments) is therefore stored in the database.
"""

import logging

from django.conf import settings
from django.db import connection, transaction

from config.startup import refuse
from core.data import database

logger = logging.getLogger(__name__)

# Processes start without a database, so a start must not wait long for one that is away.
PATIENCE_SECONDS = 5.0
STORED = "SELECT key FROM core_deployment WHERE id = 1 FOR NO KEY UPDATE"
STORE = "UPDATE core_deployment SET key = %s WHERE id = 1"
AT_WORK = """
SELECT host FROM deliveries_loop JOIN deliveries_heartbeat ON loop_id = id
WHERE lease_until > statement_timestamp() ORDER BY started_at LIMIT 1
"""


def refuse_second_deployment() -> None:
    """Exit with advice on the settings if another deployment uses the database."""
    database.wait_at_most(PATIENCE_SECONDS)
    own = settings.DEPLOYMENT_KEY
    try:
        stored, host = claim_database(own)
    except Exception as error:  # a process starts even if the check is impossible
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
    """Store this deployment's key unless another one runs loops; return the stored key and a host.

    The host is one of the deployment's loops, "" without any.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(STORED)
        row = cursor.fetchone()
        stored = str(row[0]) if row else own
        cursor.execute(AT_WORK)
        loop = cursor.fetchone()
        if stored == own or (stored and loop):
            return stored, loop[0] if loop else ""
        cursor.execute(STORE, [own])
    if stored:
        logger.warning("the database was of the deployment %s and is of %s now", stored, own)
    return own, ""
