"""Which deployment this is: an id made with its database (decision N29).

What is rung for and what is kept in a cache carries it, so that two deployments may share a broker.
"""

import logging
import mmap
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from core.models import Deployment

logger = logging.getLogger(__name__)

HEADER = "deployment"
# Shared with the processes that are forked from this one: whichever reads the id first tells the
# others, among them those that ask no database.
_shared = mmap.mmap(-1, 16)
_UNKNOWN = bytes(16)


def deployment_id() -> str:
    """The id of the database; asks for it once. Raises what the database says when it is away."""
    known = known_id()
    if known is None:
        made, _ = Deployment.objects.get_or_create(pk=1)
        remember(made.uuid)
        known = str(made.uuid)
    return known


def known_id() -> str | None:
    """The same, if this process or a relative of it has read it."""
    found = _shared[:]
    return None if found == _UNKNOWN else str(UUID(bytes=found))


def remember(uuid: UUID | None) -> None:
    _shared[:] = uuid.bytes if uuid else _UNKNOWN


def own_headers() -> dict[str, str]:
    """What a doorbell carries; nothing while nobody knows the id."""
    try:
        return {HEADER: deployment_id()}
    except Exception:  # whatever keeps us from asking: a doorbell without it is heard too
        logger.debug("the deployment is not known yet", exc_info=True)
        return {}


def is_foreign(headers: Mapping[str, Any] | None) -> bool:
    """Return whether another deployment has rung, and warn of it."""
    rung_by, own = (headers or {}).get(HEADER), known_id()
    if not rung_by or own is None or rung_by == own:
        return False
    logger.warning("ignoring a doorbell of the deployment %s; this one is %s", rung_by, own)
    return True


def cache_key(key: str, prefix: str, version: int) -> str:
    """Django's KEY_FUNCTION: no two deployments have a key in common."""
    return f"{prefix}:{deployment_id()}:{version}:{key}"
