"""Non-blocking socket to which the application writes its answer."""

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

# Small pieces are collected up to this size, so that head and body of most answers leave together.
SENT_AT_ONCE = 64 * 1024
# Unsent bytes that the kernel holds for one client: with more, we could not tell whether the client
# reads.
KERNEL_HOLDS = 128 * 1024
# Hardly anything else that we send begins like the head of an answer.
STATUS_LINE = re.compile(rb"HTTP/1\.[01] (\d{3}) ")


class Outlet:
    """The socket that gunicorn writes to, over one that does not block.

    It belongs to the thread that answers, and to the event loop before and after.
    """

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.unsent = Unsent()
        # Bytes that the kernel has taken for the client.
        self.sent_bytes = 0
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
        """Bytes that wait on disk."""
        return self.unsent.spooled

    def sendall(self, data: bytes) -> None:
        """Queue data and send some. Raises ConnectionError if the client or disk space is gone."""
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
        """Send what the client takes now; return True if that was all. Raises OSError."""
        if self.broken:
            raise ConnectionAbortedError("The answer broke off.")
        self.sent_bytes += self.unsent.send(self.sock.send, self.send_file)
        return not self.unsent

    def send_file(self, descriptor: int, offset: int, count: int) -> int:
        return os.sendfile(self.sock.fileno(), descriptor, offset, count)

    def delivered(self) -> int:
        """Return the bytes that have reached the client's machine."""
        waiting = array.array("i", [0])
        with suppress(OSError):
            fcntl.ioctl(self.sock, termios.TIOCOUTQ, waiting)
        return self.sent_bytes - waiting[0]

    def release(self) -> None:
        """Discard unsent data: the answer is incomplete, or the connection is about to close."""
        self.broken = True
        self.unsent.release()

    def gettimeout(self) -> float:
        return 0.0

    def shutdown(self, how: int) -> None:
        """Raise OSError always: gunicorn would wait here, and the event loop closes connections."""
        raise OSError(errno.ENOTCONN, "The event loop closes connections.")

    def close(self) -> None:
        """Do nothing: the event loop closes connections."""
