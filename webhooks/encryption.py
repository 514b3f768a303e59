"""Encryption of stored secrets: Fernet with FIELD_KEYS, newest key first."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import models


@lru_cache(maxsize=4)
def keyring(keys: tuple[str, ...]) -> MultiFernet:
    if not keys:
        raise ImproperlyConfigured("FIELD_KEYS is empty, so secrets cannot be encrypted or read.")
    return MultiFernet([Fernet(key) for key in keys])


def encrypt(text: str) -> str:
    return keyring(tuple(settings.FIELD_KEYS)).encrypt(text.encode()).decode()


def decrypt(stored: str) -> str:
    """Decrypt a stored secret. Raises ImproperlyConfigured if no key in FIELD_KEYS can."""
    try:
        return keyring(tuple(settings.FIELD_KEYS)).decrypt(stored.encode()).decode()
    except InvalidToken as error:
        raise ImproperlyConfigured("No key in FIELD_KEYS can decrypt a stored secret.") from error


if TYPE_CHECKING:
    TextField = models.TextField[str | None, str | None]
else:
    TextField = models.TextField


class EncryptedTextField(TextField):
    """Text in Python, ciphertext in the database. It cannot be searched."""

    def get_prep_value(self, value: Any) -> Any:
        return value if value is None else encrypt(value)

    def from_db_value(self, value: str | None, *_: Any) -> str | None:
        return value if value is None else decrypt(value)
