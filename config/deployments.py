"""Key of this deployment, derived from settings alone.

It is part of the names of queues, since a worker must start while the database is away. The id that
was made with the database (core.jobs.deployments) tells apart deployments with the same key.
Why: decision N29.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

# Operators copy the key to DEPLOYMENT of a second host if the first one has no name.
KEY = re.compile(r"[0-9a-f]{12}", re.ASCII)
THIS_HOST = ("", "localhost", "127.0.0.1", "::1")


def deployment_key(name: str, database: Mapping[str, Any], secret_key: str) -> str:
    """Return twelve hexadecimal digits, the same in all processes of a deployment.

    They are derived from `name`, which may also be the digits themselves; without one, from the
    database's address and the secret key, which tells apart "localhost" on two machines.
    """
    if KEY.fullmatch(name):
        return name
    host = database.get("HOST") or ""
    identity = [
        "" if host in THIS_HOST else host,
        str(database.get("PORT") or 5432),
        database.get("NAME"),
        secret_key,
    ]
    text = json.dumps([name] if name else identity)
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
