"""Opens one file of a stranger's, in a process of its own that is bounded and soon ends.

Run as a program by `companies.files.examining`, never imported by the service: a decoder that
crashes, runs for ever or takes all memory takes this process with it, and nothing else. The file
comes by standard input. What goes out is a line of JSON, and behind it the bytes that were made.
"""

import json
import os
import re
import resource
import sys
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pypdfium2
from PIL import Image, ImageOps

MOST_MEMORY = 1024**3
CPU_SECONDS = 10
# The cameras of phones make 50 million; a bomb of some kilobytes makes thousands of millions.
MOST_PIXELS = 52_000_000
MOST_PAGES = 1_000
# Re-encoding may make a picture larger, but not much.
MOST_MADE = 24 * 1024 * 1024
FORMATS = {"image/jpeg": "JPEG", "image/png": "PNG", "image/webp": "WEBP"}
HOW = {"JPEG": {"quality": 90}, "PNG": {}, "WEBP": {"quality": 90}}
THUMBNAIL_SIDE = 320
PAGE_SIDE = 1_600
# A complete PDF says within its last bytes that it ends.
END_OF_PDF, SEARCHED_FOR_END = b"%%EOF", 1024
# What a viewer may run, or open, without having been told to.
ACTIVE = re.compile(rb"/(?:JavaScript|JS|Launch|EmbeddedFiles?|RichMedia)\b")


class TooComplex(Exception):
    """More than anybody looks at; the message says what."""


def limit_itself() -> None:
    """No more than so much of anything, no files, no further processes; and others go first."""
    os.nice(10)
    for what, most in (
        (resource.RLIMIT_AS, MOST_MEMORY),
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, 0),
    ):
        resource.setrlimit(what, (most, most))


def as_kept(content: bytes, media_type: str) -> tuple[dict[str, Any], bytes]:
    """The file as it is kept: an image written anew, a PDF as it came."""
    if media_type == "application/pdf":
        return {"active": has_active_parts(open_pdf(content))}, b""
    return {"active": False}, written_anew(open_image(content, media_type), FORMATS[media_type])


def open_image(content: bytes, media_type: str) -> Image.Image:
    """The whole image, upright. What does not belong to it is left behind."""
    Image.MAX_IMAGE_PIXELS = None  # ours is asked first, and warns nobody
    image: Image.Image = Image.open(BytesIO(content), formats=[FORMATS[media_type]])
    if image.width * image.height > MOST_PIXELS:
        raise TooComplex(
            f"The image has {image.width} x {image.height} pixels, which are too many."
        )
    image.load()
    try:
        return ImageOps.exif_transpose(image)
    except Exception:  # what a camera wrote about a picture may be broken; the picture is not
        return image


def written_anew(image: Image.Image, form: str) -> bytes:
    """The pixels and nothing else: no EXIF, no comment, no bytes behind the end."""
    if image.has_transparency_data and form != "JPEG":
        mode = "RGBA"
    elif image.mode in ("1", "L"):
        mode = "L"
    else:
        mode = "RGB"
    clean = image if image.mode == mode else image.convert(mode)
    clean.info.clear()
    made = BytesIO()
    clean.save(made, form, **HOW[form])
    return made.getvalue()


def open_pdf(content: bytes) -> pypdfium2.PdfDocument:
    """The document, of which the first page can be shown."""
    if END_OF_PDF not in content[-SEARCHED_FOR_END:]:
        raise ValueError("the end is missing")
    document = pypdfium2.PdfDocument(content)
    if len(document) > MOST_PAGES:
        raise TooComplex(f"The PDF has {len(document)} pages; at most {MOST_PAGES} are taken.")
    document[0].get_size()
    return document


def has_active_parts(document: pypdfium2.PdfDocument) -> bool:
    """Whether there are scripts or attached files in it. Written anew its objects lie open, also
    those that were compressed.
    """
    plain = BytesIO()
    document.save(plain)
    return ACTIVE.search(plain.getvalue()) is not None


def thumbnail(content: bytes, media_type: str) -> tuple[dict[str, Any], bytes]:
    """A small JPEG of the image, or of the first page."""
    if media_type == "application/pdf":
        page = open_pdf(content)[0]
        scale = THUMBNAIL_SIDE / max(*page.get_size(), 1)
        image = page.render(scale=scale, may_draw_forms=False).to_pil()
    else:
        image = open_image(content, media_type)
    image.thumbnail((THUMBNAIL_SIDE, THUMBNAIL_SIDE))
    if image.has_transparency_data:
        shown = image.convert("RGBA")
        image = Image.new("RGBA", shown.size, "white")
        image.alpha_composite(shown)
    return {}, written_anew(image, "JPEG")


def page(content: bytes, media_type: str, number: str) -> tuple[dict[str, Any], bytes]:
    """A page of a PDF as a JPEG that fills a screen; the first is 1. Says how many there are."""
    document = open_pdf(content)
    if not 1 <= int(number) <= len(document):
        return {"pages": len(document)}, b""
    shown = document[int(number) - 1]
    scale = PAGE_SIDE / max(*shown.get_size(), 1)
    image = shown.render(scale=scale, may_draw_forms=False).to_pil()
    return {"pages": len(document)}, written_anew(image, "JPEG")


Made = tuple[dict[str, Any], bytes]
TASKS: dict[str, Callable[..., Made]] = {
    "examine": as_kept,
    "thumbnail": thumbnail,
    "page": page,
}


def main(task: str, media_type: str, *given: str) -> None:
    content = sys.stdin.buffer.read()
    limit_itself()
    try:
        said, made = TASKS[task](content, media_type, *given)
        if len(made) > MOST_MADE:
            raise TooComplex("The image cannot be kept in a file of a sensible size.")
    except TooComplex as error:
        said, made = {"too_complex": str(error)}, b""
    except MemoryError:
        said, made = {"too_complex": "The file takes too much memory to open."}, b""
    except Exception as error:  # whatever a decoder says of a broken file
        said, made = {"unreadable": f"{type(error).__name__}: {error}"}, b""
    sys.stdout.buffer.write(json.dumps(said).encode() + b"\n" + made)


if __name__ == "__main__":
    main(*sys.argv[1:])
