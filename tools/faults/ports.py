"""Ports for servers that are started later."""

import random

from tools.dev.ports import why_not


def free_port() -> int:
    """Return a free port for later use.

    It is below the ephemeral ports, one of which could be taken by any connection in between.
    """
    while why_not(port := random.randint(20_000, 32_000)):  # noqa: S311 - no secret
        pass
    return port
