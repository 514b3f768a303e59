"""Buffer of answers that wait for their client: a little in memory, the rest on disk."""

import os
import tempfile
from collections import deque
from collections.abc import Callable
from typing import IO

from config.door.allowances import LARGEST_SPOOLED, MOST_IN_MEMORY

# Both return the number of bytes that the client took, and raise BlockingIOError if it takes none.
SendBytes = Callable[[memoryview], int]
# Its arguments are a file descriptor, an offset and a count.
SendFile = Callable[[int, int, int], int]


class Span:
    """Unsent part of an open file."""

    def __init__(self, file: IO[bytes], offset: int, count: int) -> None:
        self.file = file
        self.offset = offset
        self.count = count


class Unsent:
    """Unsent bytes of a connection's answers, in order.

    Memory comes first: once something waits in a file, everything after it goes to a file too.
    """

    def __init__(self) -> None:
        self.memory = bytearray()
        self.spans: deque[Span] = deque()
        self.spool: IO[bytes] | None = None
        # Size of the spool on disk, which is freed when all of it is sent.
        self.spooled = 0

    def __bool__(self) -> bool:
        return bool(self.memory or self.spans)

    def add(self, data: bytes) -> None:
        """Append to the answer. Raises OSError if the disk or the spool is full."""
        if self.spans:
            self.append_to_spool(memoryview(data))
        else:
            self.memory += data

    def add_file(self, descriptor: int, offset: int, count: int) -> None:
        """Append a part of a file, which may be closed and deleted as soon as this returns."""
        self.spans.append(Span(os.fdopen(os.dup(descriptor), "rb", buffering=0), offset, count))

    def bound_memory(self) -> None:
        """Move everything over MOST_IN_MEMORY to disk. Raises OSError as `add` does."""
        if len(self.memory) > MOST_IN_MEMORY:
            with memoryview(self.memory) as whole, whole[MOST_IN_MEMORY:] as rest:
                self.append_to_spool(rest)
            del self.memory[MOST_IN_MEMORY:]

    def append_to_spool(self, data: memoryview) -> None:
        if self.spooled + len(data) > LARGEST_SPOOLED:
            raise OSError("The client reads too slowly for an answer of this size.")
        if self.spool is None:
            self.spool = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - `release` closes it
        size = 0
        while size < len(data):
            size += os.pwrite(self.spool.fileno(), data[size:], self.spooled + size)
        if self.spans and self.spans[-1].file is self.spool:
            self.spans[-1].count += size
        else:
            self.spans.append(Span(self.spool, self.spooled, size))
        self.spooled += size

    def send(self, send_bytes: SendBytes, send_file: SendFile) -> int:
        """Send until the client takes no more; return the bytes it took. Raises OSError."""
        total = 0
        try:
            while self.memory:
                with memoryview(self.memory) as view:
                    size = send_bytes(view)
                del self.memory[:size]
                total += size
            while self.spans:
                total += self.send_span(self.spans[0], send_file)
        except BlockingIOError:
            return total
        self.release()
        return total

    def send_span(self, span: Span, send_file: SendFile) -> int:
        size = send_file(span.file.fileno(), span.offset, span.count) if span.count else 0
        if span.count and not size:
            raise OSError("A file that is being sent has become shorter.")
        span.offset += size
        span.count -= size
        if not span.count:
            self.spans.popleft()
            if span.file is not self.spool:
                span.file.close()
        return size

    def release(self) -> None:
        """Discard unsent bytes and close their files."""
        self.memory.clear()
        for span in self.spans:
            span.file.close()
        self.spans.clear()
        if self.spool is not None:
            self.spool.close()
        self.spool, self.spooled = None, 0
