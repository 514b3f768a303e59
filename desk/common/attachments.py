"""Files that agents send with a form: opened and stored before anything is written."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext

from core.files.examining import examine_file
from core.files.kinds import MOST_BYTES, TOO_LARGE, media_type_of, shown_name
from core.files.refusals import RETRY_LATER, FileRefused
from core.files.scanning import scan
from tickets.changes.agent_files import MOST_AT_ONCE
from tickets.changes.files import NewFile, stored

# Agents share the places of one company: theirs are never all taken by agents.
NO_COMPANY = 0


@contextmanager
def stored_uploads(sent: "Sequence[UploadedFile[Any]]") -> Iterator[list[NewFile]]:
    """The same checks as companies' files; what no row is made for within is removed again.

    Holds no transaction. Raises FileRefused, which names every file that is not accepted.
    """
    if len(sent) > MOST_AT_ONCE:
        text = gettext("Attach at most %(most)d files at a time.") % {"most": MOST_AT_ONCE}
        raise FileRefused(text, code="too_many_files")
    with ExitStack() as stack:
        new: list[NewFile] = []
        refusals: list[FileRefused] = []
        for one in sent:
            try:
                new.append(keep_upload(stack, one))
            except FileRefused as refused:
                if refused.code in RETRY_LATER:
                    raise
                refusals.append(refused)
        if refusals:
            text = "\n".join(str(refused) for refused in refusals)
            raise FileRefused(text, code=refusals[0].code)
        yield new


def picker_facts() -> dict[str, Any]:
    """Return the limits and the words that desk/static/desk/pasting.js needs."""
    words = {
        "remove": gettext("Remove"),
        "kind": gettext("Pictures (JPEG, PNG, WebP) and PDF only."),
        "big": gettext("At most %(size)s.") % {"size": filesizeformat(MOST_BYTES)},
        "many": gettext("Attach at most %(most)d files at a time.") % {"most": MOST_AT_ONCE},
        "total": gettext("Too much at a time: send it with the next message."),
        "lost": gettext("Your files were not kept. Add them again:"),
    }
    # The rest of a form takes less than 512 KiB.
    total = settings.MAX_UPLOAD_BYTES - 512 * 1024
    return {"words": json.dumps(words), "most": MOST_BYTES, "count": MOST_AT_ONCE, "total": total}


def keep_upload(stack: ExitStack, sent: "UploadedFile[Any]") -> NewFile:
    named = sent.name or ""
    try:
        if (sent.size or 0) > MOST_BYTES:
            raise FileRefused(TOO_LARGE, code="file_too_large")
        raw = sent.read()
        media_type = media_type_of(raw)
        name = shown_name(named, media_type)
        content, active = examine_file(raw, media_type, NO_COMPANY)
        scan(name, content)
    except FileRefused as error:
        raise FileRefused(f"{named}: {error}", code=error.code) from error
    return NewFile(
        name=name,
        description="",
        media_type=media_type,
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        active=active,
        stored_as=stack.enter_context(stored(content)),
    )
