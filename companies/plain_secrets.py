"""Secrets that versions before stored in clear, and how they are encrypted.

Not by a migration: the version before would be at work still, and knows nothing of the new place.
An app that has such secrets registers them in a module `plain_secrets`.
"""

import json
from collections.abc import Callable
from typing import NamedTuple

from django.db import transaction
from django.db.models import QuerySet

from companies.models import KeptAnswer


class PlainSecrets(NamedTuple):
    """`look` counts them. `encrypt_some` encrypts up to so many in one transaction; it returns how
    many that were.
    """

    name: str
    look: Callable[[], int]
    encrypt_some: Callable[[int], int]


known: list[PlainSecrets] = []


def answers_with_a_secret() -> QuerySet[KeptAnswer]:
    """The answers that showed a signing secret and were kept as they were."""
    return KeptAnswer.objects.filter(secret_body=None, body__data__has_key="secret")


@transaction.atomic
def encrypt_answers(most: int) -> int:
    found = answers_with_a_secret().select_for_update(no_key=True).order_by("pk")[:most]
    for kept in found:
        kept.secret_body = json.dumps(kept.body)
        del kept.body["data"]["secret"]
        kept.save(update_fields=["secret_body", "body"])
    return len(found)


known.append(PlainSecrets("kept answers", lambda: answers_with_a_secret().count(), encrypt_answers))
