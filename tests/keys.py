"""Keys of FIELD_KEYS that are added and lost."""

from cryptography.fernet import Fernet
from pytest_django import Settings


def new_key() -> str:
    return Fernet.generate_key().decode()


def lose_keys(settings: Settings) -> list[str]:
    """Replace all keys by a new one; returns the lost ones."""
    lost = settings.FIELD_KEYS
    settings.FIELD_KEYS = [new_key()]
    return lost
