"""The place where the application writes its answer: it never waits for the client."""

import array
import errno
import fcntl
import os
import re
import socket
import termios
from contextlib import suppress
from typing import IO

from config.door.unsent import Unsent

# Small pieces are collected up to this size: head and body of most answers leave together.
SENT_AT_ONCE = 64 * 1024
# Bytes that the kernel holds for one client beyond those on their way: of more, nobody could tell
# whether the client reads.
KERNEL_HOLDS = 128 * 1024
# What the head of an answer begins with, and hardly anything else that we send.
STATUS_LINE = re.compile(rb"HTTP/1\.[01] (\d{3}) ")


class Outlet:
    """Gunicorn's idea of a socket to write to, over one that does not block.

    Belongs to the thread that answers, and to the event loop before and after.
    """

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.unsent = Unsent()
        # Bytes that the kernel has taken for the client.
        self.sent = 0
        # Status of the last answer that began here.
        self.status = 0
        self.broken = False
        with suppress(OSError):  # not over a Unix socket
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, KERNEL_HOLDS)

    def __len__(self) -> int:
        """Return the bytes that wait in memory."""
        return len(self.unsent.memory)

    @property
    def spooled(self) -> int:
        """The bytes that wait on disk."""
        return self.unsent.spooled

    def sendall(self, data: bytes) -> None:
        """Raises ConnectionError if the client is gone, or no room is left for it."""
        if head := STATUS_LINE.match(data):
            self.status = int(head[1])
        try:
            self.unsent.add(data)
            if len(self) > SENT_AT_ONCE:
                self.flush()
            self.unsent.bound_memory()
        except OSError as error:
            self.release()
            raise ConnectionAbortedError(str(error)) from error

    def sendfile(self, file: IO[bytes], offset: int = 0, count: int = 0) -> None:
        """Have the event loop send a part of the file."""
        if count > 0:
            self.unsent.add_file(file.fileno(), offset, count)

    def flush(self) -> bool:
        """Send what the client takes now; returns whether that was all. Raises OSError."""
        if self.broken:
            raise ConnectionAbortedError("The answer broke off.")
        self.sent += self.unsent.send(self.sock.send, self.send_file)
        return not self.unsent

    def send_file(self, descriptor: int, offset: int, count: int) -> int:
        return os.sendfile(self.sock.fileno(), descriptor, offset, count)

    def delivered(self) -> int:
        """Return the bytes that have reached the client's machine."""
        waiting = array.array("i", [0])
        with suppress(OSError):
            fcntl.ioctl(self.sock, termios.TIOCOUTQ, waiting)
        return self.sent - waiting[0]

    def release(self) -> None:
        """Send nothing more: the answer is incomplete, or the connection is about to be closed."""
        self.broken = True
        self.unsent.release()

    def gettimeout(self) -> float:
        return 0.0

    def shutdown(self, how: int) -> None:
        """Raises OSError, always: gunicorn would wait here, and closing is up to the event loop."""
        raise OSError(errno.ENOTCONN, "The event loop closes connections.")

    def close(self) -> None:
        """The event loop does it."""
