"""A descriptor that a loop waits for besides its sockets, and others ring."""

import os


class Bell:
    """Rings are not counted. It is shared with processes that are forked after it was made."""

    def __init__(self) -> None:
        self._descriptor = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)

    def fileno(self) -> int:
        return self._descriptor

    def close(self) -> None:
        os.close(self._descriptor)

    def ring(self) -> None:
        os.eventfd_write(self._descriptor, 1)

    def silence(self) -> bool:
        """Whether it has rung since the last time."""
        try:
            os.eventfd_read(self._descriptor)
        except BlockingIOError:
            return False
        return True
