"""Id of the deployment, made with its database (decision N29).

Doorbells and cache keys carry it, so that two deployments may share a broker.
"""

import logging
import mmap
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from core.models import Deployment

logger = logging.getLogger(__name__)

HEADER = "deployment"
# Shared with forked processes: the first to read the id makes it known to the others, some of
# which never query the database.
_shared = mmap.mmap(-1, 16)
_UNKNOWN = bytes(16)


def deployment_id() -> str:
    """Return the deployment's id, queried once. Raises database errors if it is not reachable."""
    cached_id = stored_id()
    if cached_id is None:
        row, _ = Deployment.objects.get_or_create(pk=1)
        remember(row.uuid)
        cached_id = str(row.uuid)
    return cached_id


def stored_id() -> str | None:
    """Return the deployment's id if this process or a relative has read it, else None."""
    stored = _shared[:]
    return None if stored == _UNKNOWN else str(UUID(bytes=stored))


def remember(uuid: UUID | None) -> None:
    _shared[:] = uuid.bytes if uuid else _UNKNOWN


def own_headers() -> dict[str, str]:
    """Return the headers of a doorbell; empty while the id cannot be read."""
    try:
        return {HEADER: deployment_id()}
    except Exception:  # a doorbell without the id still works
        logger.debug("the deployment is not known yet", exc_info=True)
        return {}


def is_foreign(headers: Mapping[str, Any] | None) -> bool:
    """Return whether another deployment has rung, and warn of it."""
    rung_by, own = (headers or {}).get(HEADER), stored_id()
    if not rung_by or own is None or rung_by == own:
        return False
    logger.warning("ignoring a doorbell of the deployment %s; this one is %s", rung_by, own)
    return True


def cache_key(key: str, prefix: str, version: int) -> str:
    """Build a cache key (Django's KEY_FUNCTION) that no other deployment has."""
    return f"{prefix}:{deployment_id()}:{version}:{key}"
