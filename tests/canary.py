"""Secrets that a test was given or received, and every place that one of them may have reached."""

import base64
import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from django.core.mail import EmailMessage
from django.db import connection

TABLES = """
SELECT relname FROM pg_class
WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace
"""
# All columns of a row as text, bytes in hex.
ROWS = 'SELECT to_jsonb(row)::text FROM "{}" AS row'


class Canaries:
    """Secrets by purpose. `places` has what was searched: a place, and its text."""

    def __init__(self) -> None:
        self.secrets: dict[str, set[str]] = {}
        self.places: list[tuple[str, str]] = []

    def add(self, kind: str, secret: str) -> str:
        assert len(secret) >= 8, "too short to be told from other text"
        self.secrets.setdefault(kind, set()).add(secret)
        return secret

    def look(self, place: str, content: str | bytes) -> None:
        text = content.decode("utf-8", "replace") if isinstance(content, bytes) else content
        self.places.append((place, text))

    def look_at_zip(self, place: str, content: bytes) -> None:
        with zipfile.ZipFile(io.BytesIO(content)) as files:
            for name in files.namelist():
                self.look(f"{place}: {name}", files.read(name))

    def look_at_tables(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute(TABLES)
            for (table,) in cursor.fetchall():
                cursor.execute(ROWS.format(table))
                self.look(f"table {table}", "\n".join(row for (row,) in cursor.fetchall()))

    def look_at_emails(self, emails: list[EmailMessage]) -> None:
        for email in emails:
            parts = [email.subject, email.body, *map(str, getattr(email, "alternatives", []))]
            self.look("error mail", "\n".join(parts))

    def leaks(self) -> set[tuple[str, str]]:
        """Return the leaks: kinds of secrets, and the places that hold them."""
        spellings = {
            kind: {spelt for secret in secrets for spelt in spellings_of(secret)}
            for kind, secrets in self.secrets.items()
        }
        return {
            (kind, place)
            for place, text in self.places
            for kind, spelt in spellings.items()
            if any(each in text for each in spelt)
        }


def spellings_of(secret: str) -> Iterator[str]:
    """Yield the secret as it is, and as columns, pages and addresses write text and bytes."""
    plain = secret.encode()
    yield secret
    yield json.dumps(secret)[1:-1]
    yield plain.hex()
    yield quote(secret)
    yield from base64_inside(plain)


def base64_inside(plain: bytes) -> Iterator[str]:
    """Yield Base64 of a longer text that contains these bytes at any offset."""
    for before in range(3):
        spelt = base64.b64encode(b"x" * before + plain).decode()
        # Leave out the characters that depend on the surrounding bytes.
        yield spelt[4 if before else 0 : len(spelt) - 4]


def secrets_in(answer: Any) -> Iterator[str]:
    """Yield the members of an answer whose names say that they are secrets."""
    if isinstance(answer, dict):
        for name, inner in answer.items():
            if name in ("secret", "standard_secret") and isinstance(inner, str):
                yield inner
            elif name == "url" and isinstance(inner, str) and "/c/s/" in inner:
                yield inner.rpartition("/")[2]
            else:
                yield from secrets_in(inner)
    elif isinstance(answer, list):
        for inner in answer:
            yield from secrets_in(inner)
