"""Refusal of a file. Free of any framework."""

# Codes after which the same file may be accepted a little later.
RETRY_LATER = frozenset({"files_busy", "file_seconds_spent", "scanner_unavailable"})


class FileRefused(Exception):
    """A file is refused; the message is for the company, `code` for its programs (N11).

    `wait` is the number of seconds after which a retry makes sense, if that depends on the case.
    """

    def __init__(self, message: str, *, code: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.wait = wait
