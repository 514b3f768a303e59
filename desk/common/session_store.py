"""Session store in the database under a digest of the key, so that a row opens nothing.

The data is encrypted, since it holds the token of a password reset for a moment.
Why: decision page desk-sessions-are-listed-and-ended.
"""

import hashlib
from base64 import urlsafe_b64encode
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from cryptography.fernet import Fernet, InvalidToken
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.crypto import salted_hmac

# Keys are letters and digits only, so a stored key sent as a cookie never finds its row.
MARK = "~"
# Django's column has room for 40 characters.
DIGITS = 39


if TYPE_CHECKING:
    DatabaseStore = db.SessionStore[Session]
else:
    DatabaseStore = db.SessionStore


class SessionStore(DatabaseStore):
    """Database store; keeps the name of Django's class, which is part of the signing salt."""

    def encode(self, session_dict: dict[str, Any]) -> str:
        return data_cipher().encrypt(super().encode(session_dict).encode()).decode()

    def decode(self, session_data: bytes | str) -> dict[str, Any]:
        """Return the data, or an empty dictionary if it cannot be read."""
        # The data was written under another SECRET_KEY.
        with suppress(InvalidToken):
            session_data = data_cipher().decrypt(session_data).decode()
        return super().decode(session_data)

    def exists(self, session_key: str) -> bool:
        return super().exists(stored_key(session_key))

    def create_model_instance(self, data: dict[str, Any]) -> Session:
        row = super().create_model_instance(data)
        row.session_key = stored_key(row.session_key)
        return row

    def delete(self, session_key: str | None = None) -> None:
        key = session_key or self.session_key
        if key:
            self.model.objects.filter(pk=stored_key(key)).delete()

    def _get_session_from_db(self) -> Session | None:
        key = self.session_key or ""
        row = live_rows(key).first()
        if row is None:
            self._session_key = None
        return row


def data_cipher() -> Fernet:
    """Return the cipher of session data, keyed by SECRET_KEY: like sessions, it ends with it."""
    digest = salted_hmac("desk.common.session_store", "data", algorithm="sha256").digest()
    return Fernet(urlsafe_b64encode(digest))


def stored_key(key: str) -> str:
    return MARK + hashlib.sha256(key.encode()).hexdigest()[:DIGITS]


def live_rows(key: str) -> QuerySet[Session]:
    """Return the row of the session with this key, unless it has expired."""
    return Session.objects.filter(pk=stored_key(key), expire_date__gt=timezone.now())


def session_digest(key: str) -> str:
    """Return the public name of a session, which does not open it."""
    return stored_key(key)[1:33]


def row_digest(row: Session) -> str:
    """Return the public name (`session_digest`) of a stored session."""
    return row.session_key[1:33]
