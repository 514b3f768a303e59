"""Opener of one untrusted file, in a process of its own that is bounded and soon ends.

Run as a program by `core.files.examining`, never imported by the service: a decoder that
crashes, runs for ever or takes all memory takes down this process and nothing else. The file
comes on standard input. The output is a line of JSON, followed by the resulting bytes.
"""

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pypdfium2
from PIL import Image

# Isolated Python does not look for modules next to a program.
sys.path.append(str(Path(__file__).parents[2]))

from core.files.pdf import has_active_parts, open_pdf
from core.files.pictures import FORMATS, TooComplex, encode_image, open_image
from core.values.texts import gettext_noop

MOST_MEMORY = 1024**3
CPU_SECONDS = 10
# Requests go first, but on a busy machine it must still get some time: a caller waits for it.
NICENESS = 5
MOST_PAGES = 1_000
# Re-encoding may make a picture larger, but not much.
MOST_MADE = 24 * 1024 * 1024
THUMBNAIL_SIDE = 320
PAGE_SIDE = 1_600


def limit_itself() -> None:
    """Limit memory, processor time, files and processes, and lower the priority."""
    os.nice(NICENESS)
    for what, most in (
        (resource.RLIMIT_AS, MOST_MEMORY),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, 0),
    ):
        resource.setrlimit(what, (most, most))
    # The first limit ends the process by a signal of its own, which tells it from a crash.
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))


def as_stored(content: bytes, media_type: str) -> tuple[dict[str, Any], bytes]:
    """Return the file in its stored form: an image re-encoded, a PDF unchanged."""
    if media_type == "application/pdf":
        return {"active": has_active_parts(open_checked(content))}, b""
    return {"active": False}, encode_image(open_image(content, media_type), FORMATS[media_type])


def open_checked(content: bytes) -> pypdfium2.PdfDocument:
    """Open a document whose first page can be rendered. Raises TooComplex and ValueError."""
    document = open_pdf(content)
    if len(document) > MOST_PAGES:
        text = gettext_noop("The PDF has %(pages)d pages; at most %(most)d are taken.")
        raise TooComplex(text, pages=len(document), most=MOST_PAGES)
    document[0].get_size()
    return document


def thumbnail(content: bytes, media_type: str) -> tuple[dict[str, Any], bytes]:
    """Render a small JPEG of the image, or of the first page."""
    if media_type == "application/pdf":
        page = open_checked(content)[0]
        scale = THUMBNAIL_SIDE / max(*page.get_size(), 1)
        image = page.render(scale=scale).to_pil()
    else:
        image = open_image(content, media_type)
    image.thumbnail((THUMBNAIL_SIDE, THUMBNAIL_SIDE))
    if image.has_transparency_data:
        transparent = image.convert("RGBA")
        image = Image.new("RGBA", transparent.size, "white")
        image.alpha_composite(transparent)
    return {}, encode_image(image, "JPEG")


def page(content: bytes, media_type: str, number: str) -> tuple[dict[str, Any], bytes]:
    """Render a page of a PDF, from 1, as a JPEG of screen size; the facts have the page count."""
    document = open_checked(content)
    if not 1 <= int(number) <= len(document):
        return {"pages": len(document)}, b""
    one_page = document[int(number) - 1]
    scale = PAGE_SIDE / max(*one_page.get_size(), 1)
    image = one_page.render(scale=scale).to_pil()
    return {"pages": len(document)}, encode_image(image, "JPEG")


Output = tuple[dict[str, Any], bytes]
TASKS: dict[str, Callable[..., Output]] = {
    "examine": as_stored,
    "thumbnail": thumbnail,
    "page": page,
}


def main(task: str, media_type: str, *options: str) -> None:
    content = sys.stdin.buffer.read()
    limit_itself()
    try:
        facts, output = TASKS[task](content, media_type, *options)
        if len(output) > MOST_MADE:
            text = gettext_noop("The image cannot be kept in a file of a sensible size.")
            raise TooComplex(text)
    except TooComplex as error:
        facts, output = {"too_complex": str(error), "values": error.values}, b""
    except MemoryError:
        text = gettext_noop("The file takes too much memory to open.")
        facts, output = {"too_complex": text, "values": {}}, b""
    except Exception as error:  # whatever a decoder says of a broken file
        facts, output = {"unreadable": f"{type(error).__name__}: {error}"}, b""
    facts["milliseconds"] = round(time.process_time() * 1000)
    sys.stdout.buffer.write(json.dumps(facts).encode() + b"\n" + output)


if __name__ == "__main__":
    main(*sys.argv[1:])
