"""Small files for tests: good ones, and those that strangers make."""

import struct
import zlib
from base64 import b64encode
from io import BytesIO
from typing import Any

import pypdfium2
from PIL import Image
from rest_framework.test import APIClient

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
HTML = b"<!DOCTYPE html><html><script>alert(1)</script></html>"
ZIP = b"PK\x03\x04\x14\x00\x00\x00\x08\x00" + bytes(60)
EXE = b"MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff\x00\x00" + bytes(60)
SCRIPTED_PDF = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(app.alert\\(1\\))>>>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 100 100]>>endobj
trailer<</Root 1 0 R>>
%%EOF
"""
WHERE_IT_WAS = "19 deg 25 min North"


def picture(form: str = "PNG", size: tuple[int, int] = (6, 4), **options: Any) -> bytes:
    made = BytesIO()
    Image.new("RGB", size, "red").save(made, form, **options)
    return made.getvalue()


def photo() -> bytes:
    """As a phone makes it: lying on its side, and telling where it was taken."""
    noted = Image.Exif()
    noted[0x0112] = 6  # to be turned by a quarter
    noted[0x010E] = WHERE_IT_WAS
    noted.get_ifd(0x8825).update({1: "N", 2: (19.0, 25.0, 0.0)})
    return picture("JPEG", exif=noted, comment=b"made by a stranger")


def pdf(pages: int = 1) -> bytes:
    document, made = pypdfium2.PdfDocument.new(), BytesIO()
    for _ in range(pages):
        document.new_page(200, 300)
    document.save(made)
    return made.getvalue()


def png(head: tuple[int, int, int, int], rows: bytes, *more: tuple[bytes, bytes]) -> bytes:
    """A PNG of width, height, bits and colour type; each row of bytes begins with its filter."""
    said = struct.pack(">IIBBBBB", *head, 0, 0, 0)
    parts = [(b"IHDR", said), *more, (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )


def bomb(width: int = 60_000, height: int = 60_000) -> bytes:
    """A PNG of some bytes that says it has thousands of millions of pixels."""
    return png((width, height, 8, 2), bytes(100))


def as_json(content: bytes, name: str = "box.png", **more: Any) -> dict[str, Any]:
    return {"name": name, "content_base64": b64encode(content).decode(), **more}


def send(
    api: APIClient, ticket_id: int, content: bytes, name: str = "box.png", **more: Any
) -> tuple[int, dict[str, Any]]:
    answer = api.post(f"/company/tickets/{ticket_id}/files", as_json(content, name, **more))
    return answer.status_code, answer.json()


def send_form(api: APIClient, path: str, body: bytes, boundary: str = "x", **headers: str) -> Any:
    """A form as it is, well made or not."""
    kind = f"multipart/form-data; boundary={boundary}"
    return api.generic("POST", path, body, content_type=kind, headers=headers)


def form_part(name: str, content: bytes, filename: str | None = None) -> bytes:
    named = f'; filename="{filename}"' if filename is not None else ""
    head = f'Content-Disposition: form-data; name="{name}"{named}\r\n\r\n'
    return head.encode() + content + b"\r\n"


def form(*parts: bytes, boundary: str = "x") -> bytes:
    line = f"--{boundary}\r\n".encode()
    return b"".join(line + part for part in parts) + f"--{boundary}--\r\n".encode()
