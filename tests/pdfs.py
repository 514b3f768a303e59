"""PDFs for tests, written object by object."""

import struct
import zlib


def pdf_of(*objects: bytes, packed: bool = False, root: int = 1) -> bytes:
    """Build a PDF of these objects, numbered from 1; `packed` uses a compressed object stream."""
    pdf, starts = bytearray(b"%PDF-1.7\n"), []
    if not packed:
        for number, content in enumerate(objects, 1):
            starts.append(len(pdf))
            pdf += b"%d 0 obj\n%s\nendobj\n" % (number, content)
        table = len(pdf)
        pdf += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
        pdf += b"".join(b"%010d 00000 n \n" % start for start in starts)
        pdf += b"trailer\n<</Root %d 0 R/Size %d>>\n" % (root, len(objects) + 1)
        return bytes(pdf) + b"startxref\n%d\n%%%%EOF\n" % table
    offsets, body = [], b""
    for number, content in enumerate(objects, 1):
        offsets.append(b"%d %d" % (number, len(body)))
        body += content + b"\n"
    head = b" ".join(offsets) + b"\n"
    data = zlib.compress(head + body)
    holder, table = len(objects) + 1, len(objects) + 2
    start = len(pdf)
    pdf += b"%d 0 obj\n<</Type/ObjStm/N %d/First %d/Filter/FlateDecode/Length %d>>stream\n" % (
        holder,
        len(objects),
        len(head),
        len(data),
    )
    pdf += data + b"\nendstream\nendobj\n"
    rows = struct.pack(">BIH", 0, 0, 65535)
    rows += b"".join(struct.pack(">BIH", 2, holder, at) for at in range(len(objects)))
    rows += struct.pack(">BIH", 1, start, 0) + struct.pack(">BIH", 1, len(pdf), 0)
    at = len(pdf)
    pdf += b"%d 0 obj\n<</Type/XRef/W[1 4 2]/Size %d/Root %d 0 R/Length %d>>stream\n" % (
        table,
        table + 1,
        root,
        len(rows),
    )
    return bytes(pdf) + rows + b"\nendstream\nendobj\nstartxref\n%d\n%%%%EOF\n" % at


def page_of_pdf(
    catalog: bytes = b"", page: bytes = b"", *others: bytes, packed: bool = False
) -> bytes:
    """Build a PDF of one page, with more in its catalog and page; others are numbered from 4."""
    return pdf_of(
        b"<</Type/Catalog/Pages 2 0 R%s>>" % catalog,
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]%s>>" % page,
        *others,
        packed=packed,
    )


def stream(content: bytes, entries: bytes = b"") -> bytes:
    return b"<<%s/Length %d>>stream\n%s\nendstream" % (entries, len(content), content)


FORM_LOOKS = b"/Type/XObject/Subtype/Form/BBox[0 0 100 40]"
BLACK = b"0 g 0 0 100 40 re f"


def form_pdf(field: bytes = b"/FT/Tx/V(black)", state: bytes = b"") -> bytes:
    """Build a page with a field, drawn as a black box: left 20 to 120, up 30 to 70."""
    widget = b"<</Type/Annot/Subtype/Widget/T(a)/F 4/Rect[20 30 120 70]%s%s/P 3 0 R>>" % (
        field,
        state or b"/AP<</N 5 0 R>>",
    )
    return page_of_pdf(
        b"/AcroForm<</Fields[4 0 R]>>", b"/Annots[4 0 R]", widget, stream(BLACK, FORM_LOOKS)
    )
