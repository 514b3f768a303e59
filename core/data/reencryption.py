"""Census of the keys that open the stored secrets, and re-encryption with the newest key.

Covers every EncryptedTextField of every app.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import transaction
from django.db.models import Model

from core.data.encryption import (
    NEWEST,
    Ciphertext,
    EncryptedTextField,
    UnreadableSecret,
    open_with_keys,
)

# Rows locked at a time: others that want one of them wait for some tens of milliseconds.
BATCH = 200
MOST_NAMED = 20

Show = Callable[[str], None]
Row = tuple[Any, dict[str, Ciphertext | None]]


@dataclass
class Census:
    """Number of secrets that each key opens, newest key first, and of unreadable secrets."""

    by_key: list[int]
    unreadable: int = 0
    # Some of the rows that hold an unreadable one, such as "webhook 7".
    unreadable_rows: list[str] = field(default_factory=list)

    @property
    def outdated(self) -> int:
        """Secrets that are not encrypted with the newest key."""
        return sum(self.by_key[NEWEST + 1 :]) + self.unreadable

    def add(self, model: type[Model], row: Row) -> None:
        key, secrets = row
        for secret in filter(None, secrets.values()):
            try:
                self.by_key[position_of_key(secret)] += 1
            except UnreadableSecret:
                self.unreadable += 1
                name = f"{model._meta.verbose_name} {key}"
                if len(self.unreadable_rows) < MOST_NAMED and name not in self.unreadable_rows:
                    self.unreadable_rows.append(name)


def take_census(show: Show, is_over: Callable[[], bool] = lambda: False) -> Census:
    """Classify every secret, or as many as possible until `is_over` returns True."""
    census = Census([0] * len(settings.FIELD_KEYS))
    for model, names in encrypted_fields():
        for batch in batches(model, names):
            for row in batch:
                census.add(model, row)
            show(f"{model._meta.verbose_name_plural}: up to {batch[-1][0]}")
            if is_over():
                return census
    return census


def reencrypt_all(show: Show) -> int:
    """Encrypt all secrets with the newest key; return how many were rewritten.

    Each batch commits by itself, so another run after an interruption only rewrites what is left.
    """
    rewritten = 0
    for model, names in encrypted_fields():
        for batch in batches(model, names):
            old = [key for key, secrets in batch if any(map(is_old, secrets.values()))]
            rewritten += rewrite(model, names, old) if old else 0
            show(f"{model._meta.verbose_name_plural}: {rewritten} rewritten")
    return rewritten


@transaction.atomic
def rewrite(model: type[Model], names: list[str], keys: list[Any]) -> int:
    """Lock these rows, read them again, and re-encrypt what an older key opens."""
    rewritten = 0
    locked = model._base_manager.select_for_update(no_key=True, of=("self",)).order_by("pk")
    for row in locked.filter(pk__in=keys).only("pk", *names):
        old = {name: row.__dict__[name] for name in names if is_old(row.__dict__[name])}
        if old:
            changes = {name: open_with_keys(each.stored)[1] for name, each in old.items()}
            model._base_manager.filter(pk=row.pk).update(**changes)
            rewritten += len(changes)
    return rewritten


def batches(model: type[Model], names: list[str]) -> Iterator[list[Row]]:
    """Yield all rows in primary key order, BATCH at a time: each key, and its secrets by name."""
    rows, last = model._base_manager.order_by("pk"), None
    while True:
        ahead = rows if last is None else rows.filter(pk__gt=last)
        batch = [
            (key, dict(zip(names, secrets, strict=True)))
            for key, *secrets in ahead.values_list("pk", *names)[:BATCH]
        ]
        if not batch:
            return
        yield batch
        last = batch[-1][0]


def encrypted_fields() -> Iterator[tuple[type[Model], list[str]]]:
    """Yield each model that holds secrets, with the names of its encrypted fields."""
    for model in apps.get_models():
        names = [each.attname for each in model._meta.concrete_fields if is_encrypted_field(each)]
        if names and not model._meta.proxy:
            yield model, names


def is_encrypted_field(each: object) -> bool:
    return isinstance(each, EncryptedTextField)


def position_of_key(secret: Ciphertext) -> int:
    """Return the index in FIELD_KEYS of the key that opens it. Raises UnreadableSecret."""
    return open_with_keys(secret.stored)[0]


def is_old(secret: Ciphertext | None) -> bool:
    """Return whether a key other than the newest opens it; False if none does."""
    try:
        return secret is not None and position_of_key(secret) != NEWEST
    except UnreadableSecret:
        return False
