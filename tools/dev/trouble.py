"""Errors and messages of the launcher."""

import sys


class UsageError(Exception):
    """Error that the user can fix. The message is one line and says how."""


def say(message: str) -> None:
    """Print a message on stderr, so that a command's own output stays clean."""
    print(f"dev: {message}", file=sys.stderr, flush=True)
