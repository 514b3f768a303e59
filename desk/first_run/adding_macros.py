"""Makes macros of those that are ready."""

from collections.abc import Collection

from django.db import transaction

from desk.first_run.ready_macros import READY, ReadyMacro
from desk.models import Macro
from tickets.models import ReasonCode, TicketType


@transaction.atomic
def add_ready_macros(slugs: Collection[str], languages: Collection[str]) -> int:
    """Add these in these languages; returns how many are new. One of the same name stays as it is.

    Types that this deployment does not have are left out; a macro with none of its types is not
    added, since it would be offered everywhere. Neither is one that a catalogue lacks: companies
    of its language would get it in English.
    """
    there = set(TicketType.objects.values_list("pk", flat=True))
    added = 0
    for ready in READY:
        types = there & set(ready.types)
        if ready.slug not in slugs or (ready.types and not types):
            continue
        for language in languages:
            if translated := ready.translated(language):
                added += add_ready_macro(translated, language, types)
    return added


def add_ready_macro(ready: ReadyMacro, language: str, types: Collection[int]) -> bool:
    macro, made = Macro.objects.get_or_create(
        name=ready.name,
        defaults={
            "text": ready.text,
            "move_to": ready.move_to,
            "requested": "\n".join(ready.documents),
            "reason_code": ReasonCode.objects.filter(code=ready.code).first(),
            "language": language,
        },
    )
    if made:
        macro.types.set(types)
    return made
