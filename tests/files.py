"""Small files for tests: good ones, and malicious ones."""

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
    content = BytesIO()
    Image.new("RGB", size, "red").save(content, form, **options)
    return content.getvalue()


def photo() -> bytes:
    """Return a photo as phones make it: rotated, and with the place where it was taken."""
    exif = Image.Exif()
    exif[0x0112] = 6  # rotated by a quarter
    exif[0x010E] = WHERE_IT_WAS
    exif.get_ifd(0x8825).update({1: "N", 2: (19.0, 25.0, 0.0)})
    return picture("JPEG", exif=exif, comment=b"made by a stranger")


def pdf(pages: int = 1) -> bytes:
    document, content = pypdfium2.PdfDocument.new(), BytesIO()
    for _ in range(pages):
        document.new_page(200, 300)
    document.save(content)
    return content.getvalue()


def png(head: tuple[int, int, int, int], rows: bytes, *more: tuple[bytes, bytes]) -> bytes:
    """Build a PNG: width, height, bits and colour type; each row begins with its filter."""
    header = struct.pack(">IIBBBBB", *head, 0, 0, 0)
    parts = [(b"IHDR", header), *more, (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )


def bomb(width: int = 60_000, height: int = 60_000) -> bytes:
    """Build a PNG of some bytes that claims to have billions of pixels."""
    return png((width, height, 8, 2), bytes(100))


def as_json(content: bytes, name: str = "box.png", **more: Any) -> dict[str, Any]:
    return {"name": name, "content_base64": b64encode(content).decode(), **more}


def send(
    api: APIClient, ticket_id: int, content: bytes, name: str = "box.png", **more: Any
) -> tuple[int, dict[str, Any]]:
    answer = api.post(f"/company/tickets/{ticket_id}/files", as_json(content, name, **more))
    return answer.status_code, answer.json()


def send_form(api: APIClient, path: str, body: bytes, boundary: str = "x", **headers: str) -> Any:
    """Post a form unchanged, valid or not."""
    kind = f"multipart/form-data; boundary={boundary}"
    return api.generic("POST", path, body, content_type=kind, headers=headers)


def form_part(name: str, content: bytes, filename: str | None = None) -> bytes:
    parameter = f'; filename="{filename}"' if filename is not None else ""
    head = f'Content-Disposition: form-data; name="{name}"{parameter}\r\n\r\n'
    return head.encode() + content + b"\r\n"


def form(*parts: bytes, boundary: str = "x") -> bytes:
    line = f"--{boundary}\r\n".encode()
    return b"".join(line + part for part in parts) + f"--{boundary}--\r\n".encode()
