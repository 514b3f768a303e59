"""Reader of numbered lines of the feed from a stream of bytes, in constant memory."""

import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from io import BufferedIOBase

from core.api import strict_json
from shipments.feed import parsing
from shipments.feed.parsing import BadLine, Line

CHUNK_BYTES = 256 * 1024
LONGEST_LINE_BYTES = 64 * 1024
# A valid line has at most three levels: the line, a shipment's order, and its fields.
DEEPEST = 10
CARRIAGE_RETURNS = "lines end with carriage returns alone; end each with a line feed (U+000A)"
OBJECTS = re.compile(rb"\}\s*\r\s*\{")


def groups(stream: BufferedIOBase, size: int) -> Iterator[list[tuple[int, bytes]]]:
    """Yield lines with their numbers, in order, in groups of up to `size`.

    Lines of a pipe are yielded as soon as they arrive, so a slow writer does not wait for a full
    group. A line that is too long is cut just above LONGEST_LINE_BYTES.
    """
    number = 0
    rest = b""
    while chunk := stream.read1(CHUNK_BYTES):
        *whole, rest = (rest + chunk).split(b"\n")
        rest = rest[: LONGEST_LINE_BYTES + 1]
        for start in range(0, len(whole), size):
            yield [*enumerate(whole[start : start + size], start=number + 1)]
            number += len(whole[start : start + size])
    if rest:
        yield [(number + 1, rest)]


def read(number: int, raw: bytes) -> Line | None:
    """Parse a line; return None if it is empty. Raises BadLine."""
    raw = raw.removeprefix(BOM_UTF8).strip() if number == 1 else raw.strip()
    if not raw:
        return None
    if len(raw) > LONGEST_LINE_BYTES:
        if OBJECTS.search(raw):
            raise BadLine(CARRIAGE_RETURNS)
        raise BadLine(f"the line is longer than {LONGEST_LINE_BYTES // 1024} KiB")
    try:
        return parsing.parse(strict_json.load_json(raw.decode(), deepest=DEEPEST))
    except UnicodeDecodeError as error:
        raise BadLine(f"the line is not UTF-8 (byte {error.start + 1})") from error
    except strict_json.BadJSON as error:
        if OBJECTS.search(raw):
            raise BadLine(CARRIAGE_RETURNS) from error
        raise BadLine(f"the line is not valid JSON: {error}") from error
