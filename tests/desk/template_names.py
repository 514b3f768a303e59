"""Names in the project's own templates that no context has: a failure instead of an empty text."""

import sys
from typing import Any

from django.conf import settings
from django.template.base import FilterExpression

OWN = settings.BASE_DIR / "templates"
# Copied from unfold with the optional names of the original.
COPIED = "unfold/"
# A form that a page shows again after a refusal, and the values that it had.
OPTIONAL = {"appeal_form", "chosen", "chosen_code", "form", "relate_form"}


class NoSuchName(str):
    """Replacement of Django's `string_if_invalid` that fails in a template of the project."""

    __slots__ = ()

    def __bool__(self) -> bool:
        """Fail if Django's FilterExpression asks, which it does for each name that is not there."""
        call: dict[str, Any] = sys._getframe(1).f_locals
        if not isinstance(call.get("self"), FilterExpression):
            return False
        name, template = str(call["self"].var), call["context"].render_context.template.name or ""
        own = (OWN / template).is_file() and not template.startswith(COPIED)
        if own and name.partition(".")[0] not in OPTIONAL:
            raise AssertionError(f"{template} uses {name}, which the page's context does not have")
        return False
