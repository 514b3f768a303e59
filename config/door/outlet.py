"""Where the application writes its answer: it never waits for a client that reads slowly."""

import errno
import re
import select
import socket
from typing import IO

# So much is collected before it is sent: head and body of most answers leave together.
SENT_AT_ONCE = 64 * 1024
# So much of an answer may wait for its client while the application goes on.
MOST_UNSENT = 4 * 1024 * 1024
# Beyond it the application waits for so long until there is room again.
ROOM_SECONDS = 60.0
# What the head of an answer begins with, and hardly anything else that we send.
STATUS_LINE = re.compile(rb"HTTP/1\.[01] (\d{3}) ")


class Outlet:
    """Gunicorn's idea of a socket to write to, over one that does not block.

    Belongs to the thread that answers, and to the event loop before and after.
    """

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.unsent = bytearray()
        # Of the last answer that began here.
        self.status = 0

    def __len__(self) -> int:
        return len(self.unsent)

    def sendall(self, data: bytes) -> None:
        """Raises TimeoutError where a client reads next to nothing, OSError where it is gone."""
        if head := STATUS_LINE.match(data):
            self.status = int(head[1])
        self.unsent += data
        if len(self.unsent) > SENT_AT_ONCE:
            self.flush()
        while len(self.unsent) > MOST_UNSENT:
            self.wait_for_room()
            self.flush()

    def sendfile(self, file: IO[bytes], offset: int = 0, count: int = 0) -> None:
        file.seek(offset)
        while count > 0 and (block := file.read(min(count, SENT_AT_ONCE))):
            self.sendall(block)
            count -= len(block)

    def flush(self) -> bool:
        """Send what the client takes now; returns whether that was all. Raises OSError."""
        while self.unsent:
            try:
                with memoryview(self.unsent) as view:
                    sent = self.sock.send(view)
            except BlockingIOError:
                return False
            del self.unsent[:sent]
        return True

    def wait_for_room(self) -> None:
        poll = select.poll()
        poll.register(self.sock, select.POLLOUT)
        if not poll.poll(ROOM_SECONDS * 1000):
            raise TimeoutError("The client does not read its answer.")

    def gettimeout(self) -> float:
        return 0.0

    def shutdown(self, how: int) -> None:
        """Raises OSError, always: gunicorn would wait here, and closing is up to the event loop."""
        raise OSError(errno.ENOTCONN, "The event loop closes connections.")

    def close(self) -> None:
        """The event loop does it."""
