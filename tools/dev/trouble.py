"""What the launcher says when it cannot go on."""

import sys


class UsageError(Exception):
    """Something the person at the keyboard can mend. The message is one line and says how."""


def say(message: str) -> None:
    """Tell the person what is going on. On stderr, so that a command's own output stays clean."""
    print(f"dev: {message}", file=sys.stderr, flush=True)
