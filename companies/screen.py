"""A picture in the terminal that is drawn anew, in plain ANSI, until somebody has seen enough."""

import os
import select
import signal
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

# The other screen, without a cursor; and back.
ENTER, LEAVE = "\033[?1049h\033[?25l", "\033[?25h\033[?1049l"
HOME, CLEAR_LINE, CLEAR_BELOW = "\033[H", "\033[K", "\033[J"
ENOUGH = {b"q", b"Q", b"\x03", b"\x04"}
# A picture that takes long is drawn less often: it never takes more than this share of the time.
SHARE = 0.1
SMALLEST = os.terminal_size((80, 24))


def draw_until_enough(
    screen: int, picture: Callable[[os.terminal_size], list[str]], seconds: float = 1.0
) -> None:
    """Draw every so many seconds, in the size that the window has then, until q or Ctrl-C.

    `screen` is the file descriptor of a terminal.
    """
    with other_screen(screen), suppress(KeyboardInterrupt):
        while True:
            began = time.monotonic()
            size = window_size(screen)
            lines = [line[: size.columns] for line in picture(size)[: size.lines]]
            # No line end behind the last: a full window would scroll.
            show(screen, HOME + f"{CLEAR_LINE}\r\n".join(lines) + CLEAR_LINE + CLEAR_BELOW)
            took = time.monotonic() - began
            if seen_enough(max(seconds - took, took / SHARE), screen, size):
                return


def show(screen: int, text: str) -> None:
    left = text.encode("utf-8", "replace")
    while left:
        left = left[os.write(screen, left) :]


def window_size(screen: int) -> os.terminal_size:
    try:
        size = os.get_terminal_size(screen)
    except OSError:
        return SMALLEST
    return size if size.columns and size.lines else SMALLEST


def seen_enough(seconds: float, screen: int, size: os.terminal_size) -> bool:
    """Wait so long, or until the window has another size; True if a key said to end."""
    until = time.monotonic() + seconds
    keys = [sys.stdin.fileno()] if sys.stdin.isatty() else []
    while (left := until - time.monotonic()) > 0:
        ready, _, _ = select.select(keys, [], [], min(left, 0.25))
        if ready:
            key = os.read(keys[0], 1)
            if not key or key in ENOUGH:
                return True
        if window_size(screen) != size:
            return False
    return False


@contextmanager
def other_screen(screen: int) -> Iterator[None]:
    """Keys come one by one and are not shown; whatever ends it, the terminal is as it was."""
    fd = sys.stdin.fileno() if sys.stdin.isatty() else None
    before = termios.tcgetattr(fd) if fd is not None else None
    asked_to_end = signal.signal(signal.SIGTERM, end_by_signal)
    try:
        if fd is not None:
            tty.setcbreak(fd)
        show(screen, ENTER)
        yield
    finally:
        show(screen, LEAVE)
        if fd is not None and before is not None:
            termios.tcsetattr(fd, termios.TCSADRAIN, before)
        signal.signal(signal.SIGTERM, asked_to_end)


def end_by_signal(number: int, frame: Any) -> None:
    raise SystemExit(128 + number)
