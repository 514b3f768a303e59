"""Unsupported file types: each is named, with what to send instead."""

import zipfile
from io import BytesIO

import pytest
from PIL import Image
from rest_framework.test import APIClient

from companies.models import Company
from core.files import kinds
from core.files.refusals import FileRefused
from tests import builders as build
from tests import files
from tests.files import send


def media(*brands: bytes) -> bytes:
    """Return the first box of a photo or video of the MP4 family."""
    body = b"ftyp" + brands[0] + bytes(4) + b"".join(brands)
    return (len(body) + 4).to_bytes(4, "big") + body + b"\0\0\0\x08mdat" + b"%PDF-" + bytes(50)


def archive(*names: str) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name in names:
            file.writestr(name, "x")
    return buffer.getvalue()


def avif() -> bytes:
    buffer = BytesIO()
    Image.new("RGB", (8, 8)).save(buffer, "AVIF")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "name", "advice"),
    [
        (media(b"heic", b"mif1", b"heic"), "a HEIC photo", "Most Compatible"),
        (media(b"mif1", b"heic", b"miaf"), "a HEIC photo", "HEIF"),
        (media(b"heix", b"mif1"), "a HEIC photo", "JPEG"),
        (avif(), "an AVIF image", "PNG or JPEG"),
        (media(b"mif1", b"avif"), "an AVIF image", "PNG or JPEG"),
        (files.picture("TIFF"), "a TIFF image", "JPEG or PDF"),
        (files.picture("BMP"), "a BMP image", "PNG or JPEG"),
        (files.picture("GIF"), "a GIF image", "PNG or JPEG"),
        (files.SVG, "an SVG drawing", "PNG or JPEG"),
        (b'<?xml version="1.0"?>\n<!-- a -->\n' + files.SVG, "an SVG drawing", "PNG"),
        (files.HTML, "a web page", "PDF"),
        (archive("[Content_Types].xml", "word/document.xml"), "a Word document", "PDF"),
        (archive("[Content_Types].xml", "xl/workbook.xml"), "an Excel workbook", "PDF"),
        (archive("[Content_Types].xml", "ppt/slides.xml"), "a PowerPoint presentation", "PDF"),
        (archive("photos/a.jpg"), "a ZIP archive", "one by one"),
        (archive(), "a ZIP archive", "one by one"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(90), "an older Office document", "PDF"),
        (media(b"crx ", b"isom"), "a TIFF image or a camera's raw photo", "JPEG or PDF"),
        (b"BMW i3, order 17\r\n", "a text file", "PDF"),
        (b"{\\rtf1\\ansi Hello}", "an RTF document", "PDF"),
        (media(b"isom", b"mp42"), "a video", "photos"),
        (media(b"qt  "), "a video", "photos"),
        (media(b"3gp5"), "a video", "photos"),
        (b"\x1aE\xdf\xa3" + bytes(90), "a video", "photos"),
        (b"RIFF\0\0\0\0AVI LIST", "a video", "photos"),
        (media(b"M4A "), "a sound recording", "PDF"),
        (files.EXE, "a program", "Send a JPEG, PNG, WebP or PDF file."),
        ("Guten Tag, grüße\r\n".encode(), "a text file", "PDF"),
        (b"a;b\r\n1;2\r\n", "a text file", "PDF"),
        (b"Date: today\r\n" * 200 + files.pdf(), "a PDF with something else before it", "again"),
        (bytes(2_000) + files.pdf(), "a PDF with something else before it", "again"),
    ],
)
def test_refused_type_is_named_with_advice(
    api: APIClient, company: Company, content: bytes, name: str, advice: str
) -> None:
    ticket = build.ticket(company)

    status, answer = send(api, ticket.pk, content, "photo.jpg")

    assert (status, answer["code"]) == (415, "file_type_not_allowed")
    assert answer["message"].startswith(f"This is {name}")
    assert kinds.OTHER_TYPE in answer["message"]
    assert advice in answer["message"]


def test_unknown_type_is_refused_without_a_guess() -> None:
    with pytest.raises(FileRefused) as caught:
        kinds.media_type_of(bytes(range(200, 255)) + bytes(50))
    assert str(caught.value) == kinds.OTHER_TYPE
