"""Limits of files that agents upload with a form."""

import json
from typing import Any

from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext

from core.files.kinds import MOST_BYTES
from tickets.changes.agent_files import MOST_AT_ONCE
from tickets.changes.uploads import MOST_FORM_BYTES


def upload_limits() -> dict[str, Any]:
    """Return the limits and texts that desk/static/desk/pasting.js needs."""
    words = {
        "remove": gettext("Remove"),
        "kind": gettext("Pictures (JPEG, PNG, WebP) and PDF only."),
        "big": gettext("At most %(size)s.") % {"size": filesizeformat(MOST_BYTES)},
        "many": gettext("Attach at most %(most)d files at a time.") % {"most": MOST_AT_ONCE},
        "total": gettext("Too much at a time: send it with the next message."),
        "lost": gettext("Your files were not kept. Add them again:"),
    }
    return {
        "words": json.dumps(words),
        "most": MOST_BYTES,
        "count": MOST_AT_ONCE,
        "total": MOST_FORM_BYTES,
    }
