"""Untrusted PDFs: opening them, and finding what a viewer would do by itself.

Runs in the bounded processes that open files, never in the service.
"""

import re
from collections.abc import Iterator
from io import BytesIO

import pypdfium2

# Trailers of a complete PDF; some writers leave out one or the other.
LAST_WORDS = re.compile(rb"%%EOF|startxref\s+\d+")
AN_OBJECT = re.compile(rb"\d\s+\d+\s+obj\b")
# Actions and objects that run something, play something, or send or fetch data. A link to a web
# page does not count: it needs a click, and invoices have it.
ACTS = {
    b"/JavaScript",
    b"/JS",
    b"/Launch",
    b"/SubmitForm",
    b"/ImportData",
    b"/GoToR",
    b"/GoToE",
    b"/Movie",
    b"/Sound",
    b"/Rendition",
    b"/RichMedia",
    b"/RichMediaExecute",
    b"/GoTo3DView",
    b"/3D",
    b"/U3D",
    b"/PRC",
    b"/EmbeddedFile",
    b"/EmbeddedFiles",
    b"/FileAttachment",
}
# Forms with scripts of their own, and actions that no click starts.
ACTIVE = frozenset(ACTS | {b"/XFA", b"/AA"})
# Tokens as PDFium writes them: strings are escaped, names have one spelling, and only the content
# of streams is compressed, which does not matter here.
TOKENS = re.compile(
    rb"\((?:[^\\()]|\\.)*\)|<[0-9A-Fa-f\s]*>|<<|>>|[\[\]]|stream\r?\n.*"
    rb"|/[^\s/<>\[\](){}%]*|[^\s/<>\[\](){}%]+",
    re.DOTALL,
)
ROWS = re.compile(rb"(\d{10}) \d{5} ([nf])")
ESCAPED = re.compile(rb"#([0-9A-Fa-f]{2})")

Tokens = list[bytes]


def open_pdf(content: bytes) -> pypdfium2.PdfDocument:
    """Open a document with its form fields, so that they are drawn. Raises ValueError if cut off.

    Bytes before and after the document do no harm, as in viewers.
    """
    ends = [match.end() for match in LAST_WORDS.finditer(content)]
    if not ends or AN_OBJECT.search(content, ends[-1]):
        raise ValueError("the end is missing")
    document = pypdfium2.PdfDocument(content)
    document.init_forms()
    return document


def has_active_parts(document: pypdfium2.PdfDocument) -> bool:
    """Return whether a viewer may run, play, send or open something in it by itself."""
    plain = BytesIO()
    document.save(plain)
    objects = dict(written_objects(plain.getvalue()))
    for tokens in objects.values():
        if not ACTIVE.isdisjoint(tokens):
            return True
        if b"/OpenAction" in tokens:
            at = tokens.index(b"/OpenAction")
            if not stays_inside(tokens[at + 1 :], objects):
                return True
    return False


def stays_inside(tokens: Tokens, objects: dict[int, Tokens]) -> bool:
    """Return whether the first value is a place in the document, or an action that goes there."""
    if tokens[2:3] == [b"R"] and tokens[0].isdigit():
        # A missing object does nothing.
        tokens = objects.get(int(tokens[0]), [b"null"])
    if tokens[:1] != [b"<<"]:
        # An array, a string or a name is a place.
        return not tokens[:1] or not tokens[0][:1].isdigit()
    action = tokens[: tokens.index(b">>")] if b">>" in tokens else tokens
    if b"/Next" in tokens[: closing(tokens)] or b"/S" not in action:
        return False
    return action[action.index(b"/S") + 1 :][:1] == [b"/GoTo"]


def closing(tokens: Tokens) -> int:
    """Return the index of the token that closes the dictionary at the beginning."""
    depth = 0
    for at, token in enumerate(tokens):
        depth += (token == b"<<") - (token == b">>")
        if not depth:
            return at
    return len(tokens)


def written_objects(plain: bytes) -> Iterator[tuple[int, Tokens]]:
    """Yield number and tokens of each object in the table of a file that PDFium wrote."""
    table = plain.rindex(b"xref", 0, plain.rindex(b"startxref"))
    starts = sorted(int(at) for at, kind in ROWS.findall(plain, table) if kind == b"n")
    for start, end in zip(starts, [*starts[1:], table], strict=True):
        tokens = TOKENS.findall(plain, start, end)
        if tokens[2:3] == [b"obj"]:
            yield int(tokens[0]), [unescape(one) for one in tokens[3:]]


def unescape(token: bytes) -> bytes:
    if not token.startswith(b"/") or b"#" not in token:
        return token
    return ESCAPED.sub(lambda match: bytes([int(match[1], 16)]), token)
