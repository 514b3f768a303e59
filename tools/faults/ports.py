"""Ports for servers that are started later."""

import errno
import random
import socket

from tools.dev.ports import why_not


def free_port() -> int:
    """Return a free port, which no other call returns, here or elsewhere, until this process ends.

    It is below the ephemeral ports, one of which could be taken by any connection in between.
    """
    while True:
        port = random.randint(20_000, 32_000)  # noqa: S311 - no secret
        if not why_not(port) and reserve(port):
            return port


def reserve(port: int) -> bool:
    """Reserve a port for this process; return False if another has done so.

    The abstract Unix socket of a name is one per network namespace, like a port, and goes with its
    process. The port itself cannot be bound: its server will do that.
    """
    mark = socket.socket(socket.AF_UNIX)
    try:
        mark.bind(f"\0parceldesk-port-{port}")
    except OSError as error:
        mark.close()
        if error.errno != errno.EADDRINUSE:
            raise  # each port would be refused, without end
        return False
    mark.detach()  # stays open: an owner would close it
    return True
