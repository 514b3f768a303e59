"""Wake-up descriptor that a loop polls together with its sockets."""

import os


class Bell:
    """Wake-up flag, shared with processes that are forked later. Rings are not counted."""

    def __init__(self) -> None:
        self._descriptor = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)

    def fileno(self) -> int:
        return self._descriptor

    def close(self) -> None:
        os.close(self._descriptor)

    def ring(self) -> None:
        os.eventfd_write(self._descriptor, 1)

    def silence(self) -> bool:
        """Clear the bell; return whether it has rung since the previous call."""
        try:
            os.eventfd_read(self._descriptor)
        except BlockingIOError:
            return False
        return True
