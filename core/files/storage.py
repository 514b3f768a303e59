"""Where files lie: Django's storage, whichever it is. Names there are ours, never a stranger's."""

from uuid import uuid4

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage


class FileMissing(Exception):
    """The storage does not have it."""


def new_file_name() -> str:
    """A name that nobody has or can guess."""
    name = uuid4().hex
    return f"files/{name[:2]}/{name}"


def write_file(name: str, content: bytes) -> str:
    """Returns the name under which the storage has it, which may be another."""
    return default_storage.save(name, ContentFile(content))


def read_file(name: str) -> bytes:
    """Raises FileMissing."""
    try:
        with default_storage.open(name, "rb") as file:
            return bytes(file.read())
    except FileNotFoundError as error:
        raise FileMissing(name) from error


def has_file(name: str) -> bool:
    return default_storage.exists(name)


def remove_file(name: str) -> None:
    """Where there is none, nothing happens."""
    default_storage.delete(name)
