"""Choice of ports to listen on."""

import errno
import socket

from tools.dev.trouble import UsageError

EVERYWHERE = ("", "0.0.0.0", "::", "[::]")  # noqa: S104 - recognized, not bound


def choose_port(name: str, wanted: str | None, default: int, host: str = "127.0.0.1") -> int:
    """Return the wanted port, or else the first free one from `default` on.

    Raises UsageError if the wanted port is invalid or in use.
    """
    if wanted:
        if not wanted.isascii() or not wanted.isdigit() or not 1 <= int(wanted) <= 65535:
            raise UsageError(f"{name}={wanted} is not a port; they go from 1 to 65535")
        if hindrance := why_not(int(wanted), host):
            raise UsageError(f"{name}={wanted} {hindrance}; choose another, or leave {name} out")
        return int(wanted)
    return next(port for port in range(default, 65536) if not why_not(port, host))


def reachable(host: str) -> str:
    """Return the address at which this machine reaches a server bound to `host`."""
    if host in EVERYWHERE:
        return "127.0.0.1"
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def why_not(port: int, host: str = "127.0.0.1") -> str:
    """Return the reason why a server cannot listen there now; "" if it can."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        # Set like servers do, so that lingering connections of the last run do not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host.strip("[]"), port))
        except OSError as error:
            return "is taken" if error.errno == errno.EADDRINUSE else f"fails: {error.strerror}"
    return ""
