"""Which deployment this is, as far as settings tell: before the database has been asked.

Queues have this in their names, since a worker must start while the database is away. The
id that was made with the database (core.jobs.deployments) settles what this leaves open.
Why: decision N29.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

# The form in which a second host is told to set it, where the first one has no name.
KEY = re.compile(r"[0-9a-f]{12}", re.ASCII)
THIS_HOST = ("", "localhost", "127.0.0.1", "::1")


def deployment_key(name: str, database: Mapping[str, Any], secret_key: str) -> str:
    """Twelve digits, the same in all processes of a deployment.

    Of its `name`, if it has one, which may also be the digits themselves; else of where the
    database is and of the secret key, which tells apart what is "localhost" on two machines.
    """
    if KEY.fullmatch(name):
        return name
    host = database.get("HOST") or ""
    told = [
        "" if host in THIS_HOST else host,
        str(database.get("PORT") or 5432),
        database.get("NAME"),
        secret_key,
    ]
    text = json.dumps([name] if name else told)
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
