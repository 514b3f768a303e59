"""Secrets at rest: one field, encrypted with the keys of FIELD_KEYS, the newest first.

A field is decrypted when it is read, not when its row is loaded: a secret that no key opens any
more affects only the code that needs that secret.
Why: decision page secrets-are-opened-when-they-are-read.
"""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import models
from django.db.models.query_utils import DeferredAttribute

# Index of the newest key in FIELD_KEYS.
NEWEST = 0


class UnreadableSecret(Exception):
    """No key in FIELD_KEYS opens the stored secret."""


@lru_cache(maxsize=4)
def keyring(keys: tuple[str, ...]) -> tuple[Fernet, ...]:
    if not keys:
        raise ImproperlyConfigured("FIELD_KEYS is empty, so secrets cannot be encrypted or read.")
    return tuple(Fernet(key) for key in keys)


def current_keys() -> tuple[Fernet, ...]:
    return keyring(tuple(settings.FIELD_KEYS))


def encrypt(text: str) -> str:
    return current_keys()[NEWEST].encrypt(text.encode()).decode()


def decrypt(stored: str) -> str:
    """Decrypt a stored secret. Raises UnreadableSecret."""
    return open_with_keys(stored)[1]


def open_with_keys(stored: str) -> tuple[int, str]:
    """Return the position in FIELD_KEYS of the key that opens a stored secret, and its text.

    Raises UnreadableSecret.
    """
    for position, key in enumerate(current_keys()):
        try:
            return position, key.decrypt(stored.encode()).decode()
        except InvalidToken:
            continue
    raise UnreadableSecret("No key in FIELD_KEYS can decrypt a stored secret.")


class SecretText(str):
    """The text of a secret; every read of an EncryptedTextField returns one.

    It goes into responses like any other text. Code that stores responses recognises the class.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        # Tracebacks and logs show values by their repr.
        return "'(secret)'"


class Ciphertext:
    """Stored ciphertext, decrypted lazily on first access and saved unchanged."""

    __slots__ = ("stored", "text")

    def __init__(self, stored: str) -> None:
        self.stored = stored
        self.text: SecretText | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ciphertext) and self.stored == other.stored

    def __hash__(self) -> int:
        return hash(self.stored)

    def reveal(self) -> SecretText:
        """Decrypt on the first call, then return the cached text. Raises UnreadableSecret."""
        if self.text is None:
            self.text = SecretText(decrypt(self.stored))
        return self.text


class EncryptedAttribute(DeferredAttribute):
    """Descriptor that decrypts a field's ciphertext when it is read."""

    def __get__(self, instance: Any, cls: Any = None) -> Any:
        value = super().__get__(instance, cls)
        return value.reveal() if isinstance(value, Ciphertext) else value

    def __set__(self, instance: Any, value: Any) -> None:
        plain = isinstance(value, str)
        instance.__dict__[self.field.attname] = SecretText(value) if plain else value


if TYPE_CHECKING:
    TextField = models.TextField[str | None, str | None]
else:
    TextField = models.TextField


class EncryptedTextField(TextField):
    """Text in Python, ciphertext in the database. It cannot be searched.

    Reading it raises UnreadableSecret if no key opens it; loading and saving the row does not.
    """

    descriptor_class = EncryptedAttribute

    def get_prep_value(self, value: Any) -> Any:
        if isinstance(value, Ciphertext):
            return value.stored
        return value if value is None else encrypt(value)

    def from_db_value(self, value: str | None, *_: Any) -> Ciphertext | None:
        return value if value is None else Ciphertext(value)

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:
        """Save unchanged values without re-encrypting them."""
        if self.attname in model_instance.__dict__:
            return model_instance.__dict__[self.attname]
        return getattr(model_instance, self.attname)
