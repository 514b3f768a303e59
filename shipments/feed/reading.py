"""A stream of bytes as numbered lines of the feed, in constant memory whatever the stream holds."""

from codecs import BOM_UTF8
from collections.abc import Iterator
from io import BufferedIOBase

from companies import strict_json
from shipments.feed import parsing
from shipments.feed.parsing import BadLine, Line

CHUNK_BYTES = 256 * 1024
LONGEST_LINE_BYTES = 64 * 1024
# A shipment, its order, the fields of both: three levels, and nothing of ours goes deeper.
DEEPEST = 10


def groups(stream: BufferedIOBase, size: int) -> Iterator[list[tuple[int, bytes]]]:
    """Lines with their numbers, up to `size` at a time and in order.

    A pipe's lines come as soon as they are there: whoever writes slowly is heard at once, whoever
    writes fast fills the groups. A line too long keeps just enough of itself to be seen as such.
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
    """The fact that a line holds, None if it is empty. Raises BadLine."""
    raw = raw.removeprefix(BOM_UTF8).strip() if number == 1 else raw.strip()
    if not raw:
        return None
    if len(raw) > LONGEST_LINE_BYTES:
        raise BadLine(f"the line is longer than {LONGEST_LINE_BYTES // 1024} KiB")
    try:
        return parsing.parse(strict_json.load_json(raw.decode(), deepest=DEEPEST))
    except UnicodeDecodeError as error:
        raise BadLine(f"the line is not UTF-8 (byte {error.start + 1})") from error
    except strict_json.BadJSON as error:
        raise BadLine(f"the line is not valid JSON: {error}") from error
