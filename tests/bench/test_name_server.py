"""A name server that leaves some names without an answer."""

import struct

from tools.bench.name_server import reply
from tools.bench.names import why_not

A, AAAA = 1, 28


def query(name: str, kind: int) -> bytes:
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    counts = struct.pack("!HHHH", 1, 0, 0, 0)
    return b"\x12\x34\x01\x00" + counts + labels + b"\0" + struct.pack("!HH", kind, 1)


def test_a_living_name_has_its_address() -> None:
    request = query("shop1.example.com", A)

    answer = reply(request, "127.0.0.9")

    assert answer[:4] == b"\x12\x34\x81\x80"
    assert answer[4:8] == struct.pack("!HH", 1, 1)
    assert answer[12 : len(request)] == request[12:]
    assert answer[-4:] == bytes([127, 0, 0, 9])


def test_it_has_no_other_records() -> None:
    answer = reply(query("shop1.example.com", AAAA), "127.0.0.9")

    assert answer[4:8] == struct.pack("!HH", 1, 0)


def test_a_dead_name_gets_nothing() -> None:
    assert reply(query("dead1.example.com", A), "127.0.0.9") is None


def test_missing_permission_for_the_port_is_reported() -> None:
    assert why_not(["env"]) is None
    assert why_not(["sh", "-c", "echo not permitted >&2; exit 1"]) == "not permitted"
    assert why_not(["false"]) == "it is refused"
    assert "No such file" in why_not(["/nowhere/unshare"])
