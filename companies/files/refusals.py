"""Why a file is not taken. No framework here."""


class FileRefused(Exception):
    """A file is not taken; the message is for the company, `code` for its programs (N11)."""

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code
