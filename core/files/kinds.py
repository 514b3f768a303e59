"""Accepted kinds of files, recognised by their content, and names to show them by."""

import re
import unicodedata
from typing import NamedTuple

import puremagic
from django.utils.translation import gettext

from core.files.refusals import FileRefused
from core.files.refused_kinds import BURIED_PDF, TEXT, is_text, refused_kind
from core.values.texts import gettext_noop, is_blank

MOST_BYTES = 10 * 1024 * 1024
LARGEST = {"most": MOST_BYTES // 1024**2}
TOO_LARGE = gettext_noop("A file has at most %(most)d MiB; send a smaller one.")
OTHER_TYPE = gettext_noop("Send a JPEG, PNG, WebP or PDF file.")
# Viewers search this many bytes: printers, mail gateways and scripts write lines before it.
BEGIN_OF_PDF, SEARCHED_FOR_PDF = b"%PDF-", 1024
END_OF_PDF = b"%%EOF"
LONGEST_NAME = 150
# Characters that are read of a name, however long it is.
READ_OF_NAME = 1000
# Control, format (zero-width and bidirectional), unassigned and private characters, half pairs.
NEVER_IN_A_NAME = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
SPECIAL = re.compile(r'[<>:"|?*%]')


class FileKind(NamedTuple):
    """An accepted kind: its label for people, and the extensions of its names, the usual first."""

    label: str
    extensions: tuple[str, ...]
    # True if a browser may show it instead of saving it: nothing runs in a picture.
    inline: bool


KINDS = {
    "image/jpeg": FileKind("JPEG", (".jpg", ".jpeg", ".jpe", ".jfif"), True),
    "image/png": FileKind("PNG", (".png",), True),
    "image/webp": FileKind("WebP", (".webp",), True),
    "application/pdf": FileKind("PDF", (".pdf",), False),
}


def media_type_of(content: bytes) -> str:
    """Detect the type of a file by its content; its name does not matter. Raises FileRefused."""
    if not content:
        raise FileRefused(gettext("The file is empty."), code="file_empty")
    check_size(len(content))
    try:
        media_type: str = puremagic.magic_string(content)[0].mime_type
    except puremagic.PureError:
        media_type = ""
    if media_type in KINDS:
        return media_type
    other = refused_kind(content)
    if other is None and BEGIN_OF_PDF in content[:SEARCHED_FOR_PDF]:
        return "application/pdf"
    if other is None and BEGIN_OF_PDF in content and END_OF_PDF in content:
        other = BURIED_PDF
    if other is None and is_text(content):
        other = TEXT
    parts = [gettext(OTHER_TYPE)]
    if other is not None:
        advice = gettext(other.advice) if other.advice else ""
        parts = [gettext("This is %(kind)s.") % {"kind": gettext(other.name)}, *parts, advice]
    raise FileRefused(" ".join(filter(None, parts)), code="file_type_not_allowed")


def check_size(size: int) -> None:
    """Raise FileRefused for a file of more than MOST_BYTES."""
    if size > MOST_BYTES:
        raise FileRefused(gettext(TOO_LARGE) % LARGEST, code="file_too_large")


def display_name(name: str, media_type: str) -> str:
    """Return a name to show and save: no folders, nothing invisible, short, with a true ending."""
    last = re.split(r"[/\\]", name[:READ_OF_NAME])[-1]
    visible = (
        " " if one.isspace() else one
        for one in unicodedata.normalize("NFC", last)
        if one.isspace() or unicodedata.category(one) not in NEVER_IN_A_NAME
    )
    text = " ".join(SPECIAL.sub("_", "".join(visible)).split()).rstrip(". ")
    extensions = KINDS[media_type].extensions
    ending = next((one for one in extensions if text.lower().endswith(one)), "")
    stem = text[: len(text) - len(ending)].strip(". ")
    if is_blank(stem):
        stem = "file"
    ending = text[len(text) - len(ending) :] if ending else extensions[0]
    return stem[: LONGEST_NAME - len(ending)].rstrip(". ") + ending
