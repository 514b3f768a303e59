"""Combined output of all programs, each line with the program's name."""

import os
import select
import sys

COLOURS = (36, 33, 32, 35, 34, 96, 93)
NAME_WIDTH = 10
# A writable pipe takes this many bytes without blocking.
PIECE = 4096
PATIENCE_SECONDS = 2


class Output:
    """Output that never blocks the service: unread lines are dropped, and counted.

    A reader that stops after `Ready:` would otherwise fill the pipe, then the programs' own
    pipes, and finally block the workers in the middle of a log line.
    """

    def __init__(self) -> None:
        self.descriptor = sys.stdout.fileno()
        self.coloured = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        self.colours: dict[str, int] = {}
        self.dropped = 0
        self.reader_left = False

    def show(self, name: str, line: str) -> None:
        prefix = f"{name:<{NAME_WIDTH}}| "
        if self.coloured:
            colour = self.colours.setdefault(name, COLOURS[len(self.colours) % len(COLOURS)])
            prefix = f"\x1b[{colour}m{prefix}\x1b[0m"
        self.write(prefix + line)

    def say(self, message: str) -> None:
        self.write(f"dev: {message}")

    def write(self, line: str) -> None:
        if self.dropped and self.takes_more(0):
            note = f"dev: {self.dropped} lines were dropped here, as nobody was reading\n"
            self.dropped = 0
            self.send(note.encode())
        self.send(line.encode(errors="replace") + b"\n")

    def send(self, line: bytes) -> None:
        for start in range(0, len(line), PIECE):
            if self.reader_left or not self.takes_more(0 if self.dropped else PATIENCE_SECONDS):
                self.dropped += 1
                return
            try:
                os.write(self.descriptor, line[start : start + PIECE])
            except OSError:
                # The reader has closed the pipe (`./dev run | head`): keep the service running.
                self.reader_left = True

    def takes_more(self, seconds: float) -> bool:
        return bool(select.select([], [self.descriptor], [], seconds)[1])
