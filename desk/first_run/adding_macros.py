"""Creation of macros from the ready-made ones."""

from collections.abc import Collection

from django.db import transaction

from desk.first_run.ready_macros import READY_MACROS, ReadyMacro
from desk.models import Macro
from tickets.models import ReasonCode, TicketType


@transaction.atomic
def add_ready_macros(slugs: Collection[str], languages: Collection[str]) -> int:
    """Add ready-made macros; returns the number added. Existing names are left unchanged.

    Types missing in this deployment are left out. A macro is skipped if all its types are missing,
    since it would be offered for every type, or if its translation is missing, since companies
    would get it in English.
    """
    existing_types = set(TicketType.objects.values_list("pk", flat=True))
    added = 0
    for ready in READY_MACROS:
        types = existing_types & set(ready.types)
        if ready.slug not in slugs or (ready.types and not types):
            continue
        for language in languages:
            if translated := ready.translated(language):
                added += add_ready_macro(translated, language, types)
    return added


def add_ready_macro(ready: ReadyMacro, language: str, types: Collection[int]) -> bool:
    macro, is_new = Macro.objects.get_or_create(
        name=ready.name,
        defaults={
            "text": ready.text,
            "move_to": ready.move_to,
            "requested": "\n".join(ready.documents),
            "reason_code": ReasonCode.objects.filter(code=ready.code).first(),
            "language": language,
        },
    )
    if is_new:
        macro.types.set(types)
    return is_new
