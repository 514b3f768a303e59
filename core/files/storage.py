"""Storage of files through Django's default storage, under names of our own making."""

from uuid import uuid4

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage


class FileMissing(Exception):
    """The storage does not have the file."""


def new_file_name() -> str:
    """Make a unique name that cannot be guessed."""
    name = uuid4().hex
    return f"files/{name[:2]}/{name}"


def write_file(name: str, content: bytes) -> str:
    """Write a file; return the name that the storage chose, which may differ."""
    return default_storage.save(name, ContentFile(content))


def read_file(name: str) -> bytes:
    """Read a file. Raises FileMissing."""
    try:
        with default_storage.open(name, "rb") as file:
            return bytes(file.read())
    except FileNotFoundError as error:
        raise FileMissing(name) from error


def has_file(name: str) -> bool:
    return default_storage.exists(name)


def remove_file(name: str) -> None:
    """Remove a file; do nothing if it does not exist."""
    default_storage.delete(name)
