import random
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tools.dev.ports import choose_port, reachable
from tools.dev.trouble import UsageError
from tools.faults.ports import free_port


def test_two_processes_never_get_the_same_port(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their servers start later: one finds its port taken, and its test talks to the other."""
    program = "from tools.faults.ports import free_port; print(free_port(), flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdin
        assert other.stdout
        theirs = int(other.stdout.readline())
        draw, drawn = random.randint, iter([theirs])
        monkeypatch.setattr(random, "randint", lambda *ends: next(drawn, None) or draw(*ends))

        assert free_port() != theirs

        assert not list(drawn)
        other.stdin.write("\n")


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", free_port())) as server:
        yield server.getsockname()[1]


def test_a_taken_default_moves_on(taken_port: int) -> None:
    port = choose_port("PORT", None, taken_port)

    assert taken_port < port < taken_port + 100


def test_a_taken_port_that_was_asked_for_is_refused_by_name(taken_port: int) -> None:
    with pytest.raises(UsageError, match=rf"^PORT={taken_port} is taken;"):
        choose_port("PORT", str(taken_port), 8000)


def test_a_free_port_that_was_asked_for_is_used(taken_port: int) -> None:
    free = choose_port("PORT", None, taken_port)

    assert choose_port("PORT", str(free), 8000) == free


@pytest.mark.parametrize("wanted", ["0", "65536", "http", "80 80", "-1", "\u0668\u0660"])
def test_what_is_no_port_is_refused(wanted: str) -> None:
    with pytest.raises(UsageError, match="is not a port"):
        choose_port("PORT", wanted, 8000)


@pytest.mark.parametrize(
    ("bound", "name"),
    [
        ("", "127.0.0.1"),
        ("[::]", "127.0.0.1"),
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.2", "127.0.0.2"),
        ("::1", "[::1]"),
        ("[::1]", "[::1]"),
    ],
)
def test_knows_by_what_name_a_server_is_reached_from_here(bound: str, name: str) -> None:
    assert reachable(bound) == name
