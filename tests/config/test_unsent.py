"""Responses that wait for their client: the part in memory, the part on disk, and their order."""

import os
import random
from pathlib import Path

import pytest

from config.door import unsent
from config.door.unsent import Unsent

MEMORY, DISK = 1000, 100_000


class SlowClient:
    """Takes `room` bytes, and then no more until the test gives it room again."""

    def __init__(self) -> None:
        self.received = b""
        self.room = 0

    def take(self, data: bytes) -> int:
        if not self.room:
            raise BlockingIOError
        count = min(self.room, len(data))
        self.received += data[:count]
        self.room -= count
        return count

    def take_file(self, descriptor: int, offset: int, count: int) -> int:
        return self.take(os.pread(descriptor, count, offset))


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unsent, "MOST_IN_MEMORY", MEMORY)
    monkeypatch.setattr(unsent, "LARGEST_SPOOLED", DISK)


def send_or_wait(waiting: Unsent, data: bytes) -> None:
    waiting.add(data)
    waiting.bound_memory()


def test_memory_is_bounded_and_the_rest_waits_on_disk() -> None:
    waiting, client = Unsent(), SlowClient()
    answer = bytes(range(250)) * 200

    send_or_wait(waiting, answer)
    assert (len(waiting.memory), waiting.spooled) == (MEMORY, 49_000)

    client.room = 60_000
    assert waiting.send(client.take, client.take_file) == 50_000
    assert client.received == answer
    assert not waiting
    assert waiting.spool is None


def test_pieces_and_files_keep_their_order(tmp_path: Path) -> None:
    waiting, client, expected = Unsent(), SlowClient(), b""
    dice = random.Random(7)  # noqa: S311
    for number in range(300):
        data = dice.randbytes(dice.randrange(1, 400))
        expected += data
        if dice.random() < 0.1:
            path = tmp_path / str(number)
            path.write_bytes(b"xx" + data + b"y")
            with path.open("rb") as file:
                waiting.add_file(file.fileno(), 2, len(data))
            path.unlink()
        else:
            send_or_wait(waiting, data)
        client.room = dice.randrange(0, 300)
        waiting.send(client.take, client.take_file)
        assert len(waiting.memory) <= MEMORY
    client.room = 1_000_000
    waiting.send(client.take, client.take_file)

    assert client.received == expected
    assert not waiting


def test_an_answer_beyond_the_bound_of_the_disk_breaks_off_unless_it_is_read() -> None:
    waiting, client = Unsent(), SlowClient()
    for _ in range(30):
        send_or_wait(waiting, b"a" * 10_000)
        client.room = 20_000
        waiting.send(client.take, client.take_file)
    assert len(client.received) == 300_000

    for _ in range(10):
        send_or_wait(waiting, b"a" * 10_000)
    with pytest.raises(OSError, match="too slowly"):
        send_or_wait(waiting, b"a" * 2000)
    waiting.release()


def test_a_file_that_became_shorter_breaks_off(tmp_path: Path) -> None:
    waiting, client = Unsent(), SlowClient()
    path = tmp_path / "file"
    path.write_bytes(b"a" * 10)
    with path.open("rb") as file:
        waiting.add_file(file.fileno(), 0, 20)
    client.room = 100

    with pytest.raises(OSError, match="shorter"):
        waiting.send(client.take, client.take_file)
    waiting.release()


def test_release_closes_every_file(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    waiting = Unsent()
    path = tmp_path / "file"
    path.write_bytes(b"a" * 10)
    with path.open("rb") as file:
        waiting.add_file(file.fileno(), 0, 10)
    send_or_wait(waiting, b"b" * 5000)
    assert len(os.listdir("/proc/self/fd")) == before + 2

    waiting.release()

    assert len(os.listdir("/proc/self/fd")) == before
    assert not waiting
