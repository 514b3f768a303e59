"""Strangers and slow clients at the web process: they wait, nobody else does."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import IO

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from companies.known_callers import CALLERS
from config.door import allowances, credentials
from config.door.connections import Stage
from config.door.crowd import counted_address
from config.door.fair_queue import REST_SECONDS
from config.networks import PRIVATE, parse_networks
from tests.config.door import GET, Door, Recorder, is_closed, opened, read_answer
from tests.devtools.test_supervisor import wait_until

HEAD = b"POST %s HTTP/1.1\r\nHost: x\r\n"
SLOW = {
    "headers": b"GET /slow HTTP/1.1\r\nHos",
    "body": HEAD % b"/echo" + b"Content-Length: 5\r\n\r\nab",
    "chunks": HEAD % b"/echo" + b"Transfer-Encoding: chunked\r\n\r\n5\r\nab",
}


@pytest.fixture(autouse=True)
def known_companies() -> Iterator[None]:
    for name in ("acme", "birch", "cedar"):
        CALLERS.remember("token", name, f"company {name}")
    yield
    CALLERS.owners.entries.clear()


@pytest.fixture
def application() -> Iterator[Recorder]:
    recorder = Recorder()
    yield recorder
    recorder.gate.set()


@pytest.fixture
def door(application: Recorder) -> Iterator[Door]:
    with opened(application, threads=2) as door:
        yield door


@pytest.mark.parametrize("kind", SLOW)
def test_slow_senders_take_up_no_thread(door: Door, kind: str) -> None:
    for _ in range(20):
        door.connect(SLOW[kind])

    assert door.ask(GET).startswith(b"HTTP/1.1 200 ")


def test_headers_have_ten_seconds_as_a_whole(door: Door) -> None:
    client = door.connect(SLOW["headers"])
    door.has(Stage.HEAD)

    door.later(6)
    assert door.ask(GET)
    client.sendall(b"t")
    door.later(6)

    assert is_closed(client)


@pytest.mark.parametrize("path", ["/webhooks", "/ship/generaltrack"])
@pytest.mark.parametrize("kind", ["body", "chunks"])
def test_a_body_has_thirty_seconds_as_a_whole(door: Door, kind: str, path: str) -> None:
    client = door.connect(SLOW[kind].replace(b"/echo", path.encode()))
    door.has(Stage.BODY)

    door.later(20)
    assert door.ask(GET)
    client.sendall(b"c")
    door.later(11)

    head, _, body = read_answer(client).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408 ")
    answer = json.loads(body)
    assert answer.get("statusCode") == (408 if path == "/webhooks" else None)
    assert answer.get("error", {}) == "Request Timeout" or answer["error"]["code"] == 408
    assert is_closed(client)


def test_an_idle_connection_outlives_a_proxy_s(door: Door) -> None:
    client = door.connect(GET)
    assert read_answer(client)
    door.has(Stage.IDLE)

    door.later(65)
    client.sendall(GET)
    assert read_answer(client)
    door.has(Stage.IDLE)
    door.later(76)

    assert is_closed(client)


def test_who_is_refused_and_asks_again_at_once_waits_a_little(door: Door) -> None:
    limited = shown("acme", "limited")

    for _ in range(3):
        assert door.ask(limited).startswith(b"HTTP/1.1 429 ")
    assert door.ask(shown("birch", "quick")).startswith(b"HTTP/1.1 200 ")

    began = time.monotonic()
    assert door.ask(shown("acme", "quick")).startswith(b"HTTP/1.1 200 ")
    assert door.ask(limited).startswith(b"HTTP/1.1 429 ")
    assert door.ask(limited).startswith(b"HTTP/1.1 429 ")
    assert time.monotonic() - began > REST_SECONDS


def test_made_up_tokens_rest_as_one_stranger(door: Door) -> None:
    """Each would have a row of its own if the caller's text named it."""
    began = time.monotonic()

    for number in range(5):
        assert door.ask(shown(f"made_up_{number}", "limited")).startswith(b"HTTP/1.1 429 ")

    assert time.monotonic() - began > 4 * REST_SECONDS


def test_made_up_tokens_leave_threads_to_companies(door: Door, application: Recorder) -> None:
    held = [door.connect(shown(f"made_up_{number}", "held")) for number in range(20)]
    door.has(Stage.ANSWER, 20)

    wait_until(lambda: "/held" in application.asked)
    assert door.ask(shown("birch", "quick")).startswith(b"HTTP/1.1 200 ")
    assert application.asked.count("/held") == 1

    application.gate.set()
    assert all(read_answer(client) for client in held)


def test_health_is_answered_while_every_thread_is_busy(door: Door, application: Recorder) -> None:
    held = [door.connect(shown(name, "held")) for name in ("acme", "birch", "cedar")]
    door.has(Stage.ANSWER, 3)

    assert door.ask(GET.replace(b"quick", b"healthz")).startswith(b"HTTP/1.1 200 ")
    assert application.asked.count("/held") == 2

    application.gate.set()
    assert all(read_answer(client) for client in held)


def shown(token: str, path: str) -> bytes:
    """A request of the company with this token."""
    head = b"GET /%b HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %b\r\n\r\n"
    return head % (path.encode(), token.encode())


def test_a_company_with_many_requests_leaves_a_thread_to_another(
    door: Door, application: Recorder
) -> None:
    held = [door.connect(shown("acme", "held")) for _ in range(20)]
    door.has(Stage.ANSWER, 20)

    assert door.ask(shown("birch", "quick")).startswith(b"HTTP/1.1 200 ")
    assert application.asked.count("/held") == 1

    application.gate.set()
    assert all(read_answer(client) for client in held)


def test_who_waits_longest_makes_room(application: Recorder) -> None:
    with opened(application, threads=2, worker_connections=30) as door:
        idle = [door.connect() for _ in range(40)]

        assert door.ask(GET).startswith(b"HTTP/1.1 200 ")
        assert len(door.stages()) <= 30
        assert is_closed(idle[0])


def test_an_address_has_so_many_connections(application: Recorder, settings: Settings) -> None:
    settings.CONNECTIONS_PER_ADDRESS, settings.PROXY_ADDRESSES = 3, ()
    with opened(application) as door:
        first, *_ = [door.connect() for _ in range(3)]
        door.has(Stage.HEAD, 3)

        refusal = read_answer(door.connect())
        assert refusal.startswith(b"HTTP/1.1 429 ")
        assert json.loads(refusal.partition(b"\r\n\r\n")[2])["statusCode"] == 429

        first.close()
        door.has(Stage.HEAD, 2)
        assert door.ask(GET).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    ("client", "counts_as"),
    [
        (("198.51.100.7", 5), "198.51.100.7"),
        (("::ffff:198.51.100.7", 5, 0, 0), "198.51.100.7"),
        (("2001:db8:1:2:3::4", 5, 0, 0), "2001:db8:1:2::/64"),
        (("2001:db8:1:2:ffff::", 5, 0, 0), "2001:db8:1:2::/64"),
        (("fe80::1%eth0", 5, 0, 2), "fe80::/64"),
        (("10.1.2.3", 5), None),
        (("::ffff:127.0.0.1", 5, 0, 0), None),
        ("", None),
    ],
)
def test_counts_by_address_and_trusts_the_proxies(client: object, counts_as: str | None) -> None:
    assert counted_address(client, parse_networks(PRIVATE)) == counts_as


LARGE = b"Content-Length: 100000\r\nAuthorization: Bearer one\r\n"


@pytest.mark.parametrize("expects", [b"", b"Expect: 100-continue\r\n"])
def test_a_stranger_s_large_body_is_not_waited_for(
    door: Door, application: Recorder, expects: bytes
) -> None:
    door.worker.are_known = lambda headers, path: False

    answer = door.ask(HEAD % b"/refused" + LARGE + expects + b"\r\n")

    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"Connection: close" in answer
    assert application.asked == ["/refused"]


def test_a_known_sender_s_large_body_is_taken_in(door: Door) -> None:
    asked = []
    door.worker.are_known = lambda headers, path: bool(asked.append(dict(headers)) or True)

    client = door.connect(HEAD % b"/echo" + LARGE + b"Expect: 100-continue\r\n\r\n")
    assert read_answer(client) == b"HTTP/1.1 100 Continue\r\n\r\n"
    client.sendall(b"b" * 100000)

    assert read_answer(client).endswith(b"\r\n\r\n" + b"b" * 100000)
    assert [headers["AUTHORIZATION"] for headers in asked] == ["Bearer one"]


@pytest.mark.parametrize(("known", "taken"), [(True, 100_000), (False, 64 * 1024)])
def test_chunks_are_taken_in_up_to_the_same_size(door: Door, known: bool, taken: int) -> None:
    door.worker.are_known = lambda headers, path: known
    client = door.connect(HEAD % b"/echo" + b"Transfer-Encoding: chunked\r\n\r\n")

    client.sendall(b"%x\r\n" % 100_000 + b"c" * 100_000 + b"\r\n0\r\n\r\n")

    answer = read_answer(client)
    assert answer.endswith(b"c" * 100_000) == known
    assert answer.startswith(b"HTTP/1.1 200 ") == known


def test_where_too_much_is_held_who_holds_most_goes(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(allowances, "MOST_HELD", 100_000)
    much = door.connect(HEAD % b"/echo" + b"Content-Length: 65536\r\n\r\n" + b"m" * 60_000)
    door.has(Stage.BODY)
    little = door.connect(HEAD % b"/echo" + b"Content-Length: 50000\r\n\r\n" + b"l" * 45_000)

    refusal = read_answer(much)
    assert refusal.startswith(b"HTTP/1.1 503 ")
    assert b"\r\nRetry-After: 5\r\n" in refusal
    little.sendall(b"l" * 5000)
    assert read_answer(little).startswith(b"HTTP/1.1 200 ")


LARGE_ANSWER = 20_000_000


def slow_reader(door: Door, request: bytes) -> socket.socket:
    """A client whose receive buffer is as small as may be."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.settimeout(20)
    client.connect(door.listener.getsockname())
    door.clients.append(client)
    client.sendall(request)
    return client


def asking_for(path: str, version: str = "1.1") -> bytes:
    return f"GET /{path} HTTP/{version}\r\nHost: x\r\n\r\n".encode()


@pytest.mark.parametrize("path", ["much?%d", "streamed?%d", "file?%d"])
@pytest.mark.parametrize("version", ["1.1", "1.0"])
def test_slow_readers_take_up_no_thread_and_little_memory(
    door: Door, path: str, version: str
) -> None:
    slow = [slow_reader(door, asking_for(path % LARGE_ANSWER, version)) for _ in range(6)]
    door.has(Stage.READER, 6)

    assert door.ask(GET).startswith(b"HTTP/1.1 200 ")
    assert door.worker.clients.crowd.held <= 6 * allowances.MOST_IN_MEMORY + 1000

    received = read_to_end(slow[0], LARGE_ANSWER)
    assert received == b"a" * LARGE_ANSWER
    for client in slow:
        client.close()
    door.has(Stage.READER, 0)
    assert (door.worker.clients.crowd.held, door.worker.clients.crowd.spooled) == (0, 0)


def read_to_end(client: socket.socket, size: int) -> bytes:
    """The body of an answer, with or without chunks."""
    with client.makefile("rb") as file:
        return read_body(file, size)


def read_body(file: IO[bytes], size: int) -> bytes:
    """The same from a file, which may have read ahead what stands behind it."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += file.readline()
    if b"chunked" not in head:
        return file.read(size)
    body = b""
    while length := int(file.readline(), 16):
        body += file.read(length)
        file.readline()
    return body


def test_a_head_request_for_much_gets_no_body(door: Door) -> None:
    for path in ("much?1000000", "file?1000000"):
        client = door.connect(asking_for(path).replace(b"GET", b"HEAD") + GET)
        with client.makefile("rb") as file:
            for _ in range(2):
                lines = list(iter(file.readline, b"\r\n"))
                assert lines[0] == b"HTTP/1.1 200 OK\r\n"


def test_a_large_answer_keeps_what_is_pipelined_behind_it(door: Door) -> None:
    client = slow_reader(door, asking_for("file?3000000") + asking_for("much?5"))
    door.has(Stage.READER)

    with client.makefile("rb") as file:
        assert read_body(file, 3_000_000) == b"a" * 3_000_000
        assert read_body(file, 5) == b"a" * 5


def test_who_reads_slowly_is_kept_and_who_reads_nothing_is_not(door: Door) -> None:
    phone, nobody = (slow_reader(door, asking_for(f"much?{LARGE_ANSWER}")) for _ in range(2))
    door.has(Stage.READER, 2)

    received = 0
    for turn in range(1, 5):
        while received < turn * allowances.READER_BYTES * 3 // 2:
            received += len(phone.recv(65536))
        door.later(allowances.READER_SECONDS + 1)
        door.has(Stage.READER, 1)

    assert received + bytes_left(phone) > LARGE_ANSWER
    assert bytes_left(nobody) < LARGE_ANSWER


def bytes_left(client: socket.socket) -> int:
    """How many bytes come until the end, or until nothing more does."""
    received = 0
    with suppress(ConnectionError, TimeoutError):
        client.settimeout(2)
        while data := client.recv(65536):
            received += len(data)
    return received


def test_where_too_much_is_on_disk_who_holds_most_goes(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(allowances, "MOST_SPOOLED", 25_000_000)
    much = slow_reader(door, asking_for(f"much?{LARGE_ANSWER}"))
    door.has(Stage.READER)
    less = slow_reader(door, asking_for(f"much?{LARGE_ANSWER // 2}"))

    assert bytes_left(much) < LARGE_ANSWER
    assert len(read_to_end(less, LARGE_ANSWER // 2)) == LARGE_ANSWER // 2


def test_answers_pipelined_requests_in_order(door: Door, application: Recorder) -> None:
    body = HEAD % b"/echo" + b"Content-Length: 2\r\n\r\nab"
    client = door.connect(GET + body + SLOW["chunks"] + b"cde\r\n0\r\n\r\n" + GET)

    answers = [read_one(client) for _ in range(4)]

    assert answers == [b"", b"ab", b"abcde", b""]
    assert application.asked == ["/quick", "/echo", "/echo", "/quick"]


def read_one(client: socket.socket) -> bytes:
    """The body of one answer, byte by byte: behind it stands the next."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += client.recv(1)
    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r")[0])
    return b"".join(client.recv(1) for _ in range(length))


def test_answers_a_client_that_has_closed_its_side(door: Door) -> None:
    client = door.connect(GET)
    client.shutdown(socket.SHUT_WR)

    assert read_answer(client).startswith(b"HTTP/1.1 200 ")
    assert is_closed(client)


def test_a_stop_answers_what_has_begun(application: Recorder) -> None:
    with opened(application) as door:
        idle = door.connect(GET)
        read_answer(idle)
        held = door.connect(GET.replace(b"quick", b"held"))
        begun = door.connect(SLOW["body"])
        door.has(Stage.ANSWER)
        door.has(Stage.BODY)

        door.worker.handle_exit(0, None)
        application.gate.set()
        begun.sendall(b"cde")

        assert read_answer(held).startswith(b"HTTP/1.1 200 ")
        assert read_answer(begun).endswith(b"abcde")
        idle.sendall(GET)
        assert b"Connection: close" in read_answer(idle)
        assert is_closed(idle)
        assert is_closed(begun)
        for client in (idle, held, begun):
            client.close()
        door.thread.join(20)
        assert not door.thread.is_alive()


def test_a_stop_answers_who_has_connected_and_refuses_who_comes_later(
    application: Recorder,
) -> None:
    """A proxy sends a refused request elsewhere, but no POST that nobody has accepted."""
    with opened(application) as door:
        address = door.listener.getsockname()
        busy = threading.Event()
        held = door.connect(GET.replace(b"quick", b"held"))
        door.has(Stage.ANSWER)
        door.worker.method_queue.defer(busy.wait, 20)
        waits = door.connect(GET)
        door.worker.handle_exit(0, None)
        busy.set()

        assert read_answer(waits).startswith(b"HTTP/1.1 200 ")
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address, timeout=20)
        application.gate.set()
        assert read_answer(held).startswith(b"HTTP/1.1 200 ")


def test_a_worker_ends_after_its_number_of_requests(application: Recorder) -> None:
    with opened(application, max_requests=2, max_requests_jitter=0) as door:
        client = door.connect(GET)
        assert b"Connection: keep-alive" in read_answer(client)
        client.sendall(GET)

        assert b"Connection: close" in read_answer(client)
        client.close()
        door.thread.join(20)
        assert not door.thread.is_alive()


def test_knows_who_shows_a_live_token(api: APIClient, db: None) -> None:
    authorization = api._credentials["HTTP_AUTHORIZATION"]

    assert credentials.are_known([("AUTHORIZATION", authorization)], "/webhooks")
    assert not credentials.are_known([("AUTHORIZATION", authorization + "x")], "/webhooks")
    assert not credentials.are_known([("HOST", "x")], "/webhooks")


def test_knows_who_shows_the_cookie_of_a_live_session(admin_client: Client) -> None:
    key = admin_client.cookies["sessionid"].value

    assert credentials.are_known([("COOKIE", f"a=1; sessionid={key}")], "/webhooks")
    Session.objects.update(expire_date=timezone.now())
    assert not credentials.are_known([("COOKIE", f"a=1; sessionid={key}")], "/webhooks")
