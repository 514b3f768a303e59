import io
import os
import tracemalloc

import pytest

from shipments.feed import reading


def lines(content: bytes, size: int = 500) -> list[tuple[int, bytes]]:
    return [line for group in reading.groups(io.BytesIO(content), size) for line in group]


def test_numbers_lines_from_one_and_keeps_empty_ones() -> None:
    assert lines(b"a\n\nb\r\nc") == [(1, b"a"), (2, b""), (3, b"b\r"), (4, b"c")]


@pytest.mark.parametrize("content", [b"", b"\n"])
def test_an_end_is_not_a_line(content: bytes) -> None:
    assert len(lines(content)) == len(content)


def test_a_group_is_no_larger_than_asked_for() -> None:
    groups = list(reading.groups(io.BytesIO(b"x\n" * 1001), 500))

    assert [len(group) for group in groups] == [500, 500, 1]
    assert groups[-1] == [(1001, b"x")]


def test_puts_lines_together_that_arrive_in_pieces() -> None:
    content = b"".join(b"%d" % number * 1000 + b"\n" for number in range(500))

    assert b"".join(line + b"\n" for _, line in lines(content)) == content


def test_hands_on_a_pipes_lines_as_they_come() -> None:
    read_end, write_end = os.pipe()
    with open(read_end, "rb") as stream, open(write_end, "wb", buffering=0) as platform:
        groups = reading.groups(stream, 500)
        platform.write(b"one\ntw")
        assert next(groups) == [(1, b"one")]
        platform.write(b"o\nthree\n")
        assert next(groups) == [(2, b"two"), (3, b"three")]


def test_a_line_without_an_end_costs_no_memory() -> None:
    class Endless(io.RawIOBase):
        remaining = 64

        def read1(self, size: int) -> bytes:
            self.remaining -= 1
            return b"x" * size if self.remaining else b""

    tracemalloc.start()
    lines_read = [line for group in reading.groups(Endless(), 500) for line in group]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert [len(line) for _, line in lines_read] == [reading.LONGEST_LINE_BYTES + 1]
    assert peak < 1_000_000
