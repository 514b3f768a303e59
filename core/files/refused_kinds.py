"""Names of the kinds of file that are not accepted, and what to send instead. Pure."""

from typing import NamedTuple

from core.values.texts import gettext_noop


class RefusedKind(NamedTuple):
    """A kind for people: `name` completes "This is ...", `advice` is a sentence or two.

    Both are marked with `gettext_noop`.
    """

    name: str
    advice: str


PHOTO = gettext_noop(
    "On an iPhone choose Settings > Camera > Formats > Most Compatible and take it again, on other"
    " phones switch HEIF off in the settings of the camera; or export this one as a JPEG."
)
PICTURE = gettext_noop("Save it as a PNG or JPEG.")
AS_PDF = gettext_noop("Save or print it as a PDF.")
ONE_BY_ONE = gettext_noop("Send the files in it one by one.")
STILLS = gettext_noop("Send photos or screenshots of what it shows.")

HEIC = RefusedKind(gettext_noop("a HEIC photo"), PHOTO)
AVIF = RefusedKind(gettext_noop("an AVIF image"), PICTURE)
RAW = RefusedKind(
    gettext_noop("a TIFF image or a camera's raw photo"), gettext_noop("Save it as a JPEG or PDF.")
)
VIDEO = RefusedKind(gettext_noop("a video"), STILLS)
AUDIO = RefusedKind(
    gettext_noop("a sound recording"), gettext_noop("Write what it says, or send a PDF of it.")
)
WORD = RefusedKind(gettext_noop("a Word document"), AS_PDF)
EXCEL = RefusedKind(gettext_noop("an Excel workbook"), AS_PDF)
POWERPOINT = RefusedKind(gettext_noop("a PowerPoint presentation"), AS_PDF)
OPEN_DOCUMENT = RefusedKind(gettext_noop("an OpenDocument file"), AS_PDF)
OLD_OFFICE = RefusedKind(gettext_noop("an older Office document or an Outlook message"), AS_PDF)
PACKED = RefusedKind(gettext_noop("a ZIP archive"), ONE_BY_ONE)
PAGE = RefusedKind(gettext_noop("a web page"), AS_PDF)
DRAWING = RefusedKind(gettext_noop("an SVG drawing"), PICTURE)

# Kinds by their first bytes.
BEGINNINGS = {
    b"GIF87a": RefusedKind(gettext_noop("a GIF image"), PICTURE),
    b"GIF89a": RefusedKind(gettext_noop("a GIF image"), PICTURE),
    b"BM": RefusedKind(gettext_noop("a BMP image"), PICTURE),
    b"II*\0": RAW,
    b"MM\0*": RAW,
    b"\0\0\1\0": RefusedKind(gettext_noop("an icon"), PICTURE),
    b"\xff\x0a": RefusedKind(gettext_noop("a JPEG XL image"), PICTURE),
    b"\0\0\0\x0cJXL ": RefusedKind(gettext_noop("a JPEG XL image"), PICTURE),
    b"\0\0\0\x0cjP  ": RefusedKind(gettext_noop("a JPEG 2000 image"), PICTURE),
    b"8BPS": RefusedKind(gettext_noop("a Photoshop image"), PICTURE),
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": OLD_OFFICE,
    b"Rar!\x1a\x07": RefusedKind(gettext_noop("a RAR archive"), ONE_BY_ONE),
    b"7z\xbc\xaf\x27\x1c": RefusedKind(gettext_noop("a 7-Zip archive"), ONE_BY_ONE),
    b"\x1f\x8b": RefusedKind(
        gettext_noop("a compressed file"), gettext_noop("Unpack it, and send the files in it.")
    ),
    b"\x1aE\xdf\xa3": VIDEO,
    b"FLV": VIDEO,
    b"\0\0\1\xba": VIDEO,
    b"ID3": AUDIO,
    b"OggS": AUDIO,
    b"fLaC": AUDIO,
    b"#!AMR": AUDIO,
    b"MZ": RefusedKind(gettext_noop("a program"), ""),
    b"\x7fELF": RefusedKind(gettext_noop("a program"), ""),
}
TEXT_BEGINNINGS = {
    b"%!PS": RefusedKind(gettext_noop("a PostScript file"), AS_PDF),
    b"{\\rtf": RefusedKind(gettext_noop("an RTF document"), AS_PDF),
}
# Kinds by the four letters further on in a RIFF file, and brands of the MP4 family.
RIFF = {b"AVI ": VIDEO, b"WAVE": AUDIO}
HEIC_BRANDS = frozenset(
    (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs", b"heif")
)
STILL_BRANDS = frozenset((b"mif1", b"msf1", b"mif2"))
SOUND_BRANDS = frozenset((b"M4A ", b"M4B ", b"F4A "))
# Kinds by the names of members, which an archive does not compress.
MEMBERS = {
    b"word/": WORD,
    b"xl/": EXCEL,
    b"ppt/": POWERPOINT,
    b"mimetypeapplication/vnd.oasis.opendocument": OPEN_DOCUMENT,
}
BINARY = frozenset(range(9)) | {11, *range(14, 27), *range(28, 32)}
# Bytes that are searched for words.
HEAD = 1024


def refused_kind(content: bytes) -> RefusedKind | None:
    """Name the kind of a file by its content; None if it is unknown."""
    if content[4:8] == b"ftyp":
        return refused_media(content)
    if content[:4] == b"RIFF":
        return RIFF.get(content[8:12])
    if content[:4] in (b"PK\3\4", b"PK\5\6"):
        kinds = (kind for name, kind in MEMBERS.items() if name in content)
        return next(kinds, PACKED)
    for beginning, kind in (TEXT_BEGINNINGS if is_text(content) else BEGINNINGS).items():
        if content.startswith(beginning):
            return kind
    head = content[:HEAD].replace(b"\0", b"").lower()
    if b"<svg" in head:
        return DRAWING
    return PAGE if b"<html" in head or b"<!doctype html" in head else None


def refused_media(content: bytes) -> RefusedKind:
    """Distinguish photos, sound and video of the MP4 family by their brands."""
    size = min(int.from_bytes(content[:4], "big"), HEAD)
    main = content[8:12]
    brands = {main, *(content[at : at + 4] for at in range(16, size, 4))}
    if brands & {b"avif", b"avis"}:
        return AVIF
    if main == b"crx ":
        return RAW
    if main in HEIC_BRANDS | STILL_BRANDS:
        return HEIC
    return AUDIO if main in SOUND_BRANDS else VIDEO


def is_text(content: bytes) -> bool:
    """Return whether the content reads as text, such as an email or a table."""
    return BINARY.isdisjoint(content[:HEAD])


TEXT = RefusedKind(gettext_noop("a text file"), AS_PDF)
# No viewer searches this far for the beginning.
BURIED_PDF = RefusedKind(
    gettext_noop("a PDF with something else before it"),
    gettext_noop("Open it where it came from, and save it as a PDF again."),
)
