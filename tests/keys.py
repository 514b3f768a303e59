"""Keys of FIELD_KEYS that come and go."""

from cryptography.fernet import Fernet
from pytest_django import Settings


def new_key() -> str:
    return Fernet.generate_key().decode()


def lose_keys(settings: Settings) -> list[str]:
    """From here on another key is used alone; returns those that are lost."""
    lost = settings.FIELD_KEYS
    settings.FIELD_KEYS = [new_key()]
    return lost
