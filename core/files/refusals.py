"""Why a file is not taken. No framework here."""

# The same file may be accepted a little later.
RETRY_LATER = frozenset({"files_busy", "file_seconds_spent", "scanner_unavailable"})


class FileRefused(Exception):
    """A file is not taken; the message is for the company, `code` for its programs (N11).

    `wait`: after how many seconds another try makes sense, where that depends on the case.
    """

    def __init__(self, message: str, *, code: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.wait = wait
