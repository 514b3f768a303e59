"""Ports for what is started a little later."""

import random

from tools.dev.ports import why_not


def free_port() -> int:
    """A port to listen on a little later.

    Below those that the system hands out by itself: a connection of anybody's could take one of
    them before it is listened on.
    """
    while why_not(port := random.randint(20_000, 32_000)):  # noqa: S311 - no secret
        pass
    return port
