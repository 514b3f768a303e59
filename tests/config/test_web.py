"""Strangers and slow clients at the web process: they wait, nobody else does.

The Procfile's line runs a stub application, and no test here depends on what it does.
"""

import http.client
import json
import os
import re
import shlex
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from pytest_django import DjangoDbBlocker

from companies import services
from companies.api import idempotency
from config.door import allowances
from tests import builders as build
from tests.config.web import (
    GET,
    PATIENCE_SECONDS,
    Web,
    as_company,
    asking_for,
    is_closed,
    read_answer,
    read_body,
    running,
)
from tests.waiting import wait_until
from tools.faults.service import PROCFILE, ROOT

HEAD = b"POST %s HTTP/1.1\r\nHost: x\r\n"
SLOW = {
    "headers": b"GET /slow HTTP/1.1\r\nHos",
    "body": HEAD % b"/echo" + b"Content-Length: 5\r\n\r\nab",
    "chunks": HEAD % b"/echo" + b"Transfer-Encoding: chunked\r\n\r\n5\r\nab",
}
ALLOWANCES = allowances.__name__
REST_SECONDS = 0.1
STRANGERS = {"PROXY_ADDRESSES": ""}
# More than the kernel buffers for a client that reads nothing, and longer than a slow one reads.
LARGE = 8_000_000
LONG = 20_000_000


@pytest.fixture(scope="module")
def database(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    """Give the processes the tests' database."""


@pytest.fixture(scope="module")
def two_threads(database: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    with running(tmp_path_factory.mktemp("web"), options="--threads 2") as web:
        yield web


@pytest.fixture
def web(two_threads: Web) -> Iterator[Web]:
    """Run a process of two threads, with a closed gate."""
    two_threads.forget()
    yield two_threads
    two_threads.close_clients()
    two_threads.open_gate()
    two_threads.answers()


HEAD_SECONDS, BODY_SECONDS, READER_SECONDS, KEEP_ALIVE = 2.0, 3.0, 4.0, 3


@pytest.fixture(scope="module")
def hurried(database: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """Run a process with short deadlines, for which this host is a stranger."""
    constants = {
        f"{ALLOWANCES}.HEAD_SECONDS": HEAD_SECONDS,
        f"{ALLOWANCES}.BODY_SECONDS": BODY_SECONDS,
        f"{ALLOWANCES}.READER_SECONDS": READER_SECONDS,
    }
    folder = tmp_path_factory.mktemp("hurried")
    options = f"--keep-alive {KEEP_ALIVE}"
    with running(folder, options=options, constants=constants, **STRANGERS) as web:
        yield web


def environ_of(web: Web, request: bytes) -> dict[str, str]:
    """Return the WSGI environment that the application gets for a request to /seen."""
    environ: dict[str, str] = json.loads(web.ask(request).partition(b"\r\n\r\n")[2])
    return environ


# Slow senders


@pytest.mark.parametrize("kind", SLOW)
def test_slow_senders_take_up_no_thread(web: Web, kind: str) -> None:
    for _ in range(20):
        web.connect(SLOW[kind])

    assert web.ask(GET).startswith(b"HTTP/1.1 200 ")


def drip(client: socket.socket) -> None:
    """Send one byte after another, until an answer comes or the other side has closed."""
    client.settimeout(0.2)
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        with suppress(TimeoutError):
            client.sendall(b"1")
            client.recv(1, socket.MSG_PEEK)
            client.settimeout(PATIENCE_SECONDS)
            return
    pytest.fail("it goes on and on")


@pytest.mark.parametrize("head", [b"", SLOW["headers"]])
def test_headers_have_their_seconds_as_a_whole(hurried: Web, head: bytes) -> None:
    began = time.monotonic()
    client = hurried.connect(head)

    with suppress(ConnectionError):
        drip(client)

    assert is_closed(client)
    assert time.monotonic() - began >= HEAD_SECONDS


def test_headers_of_a_further_request_have_their_seconds(hurried: Web) -> None:
    client = hurried.connect(GET)
    assert read_answer(client)

    began = time.monotonic()
    client.sendall(SLOW["headers"])

    assert is_closed(client)
    assert time.monotonic() - began >= HEAD_SECONDS - 0.1


@pytest.mark.parametrize("path", ["/webhooks", "/ship/generaltrack"])
@pytest.mark.parametrize("kind", ["body", "chunks"])
def test_a_body_has_its_seconds_as_a_whole(hurried: Web, kind: str, path: str) -> None:
    began = time.monotonic()
    start = SLOW[kind].replace(b"/echo", path.encode()).replace(b"5\r\n", b"5000\r\n")
    client = hurried.connect(start)

    drip(client)

    head, _, body = read_answer(client).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408 ")
    assert time.monotonic() - began >= BODY_SECONDS - 0.1
    answer = json.loads(body)
    assert answer.get("statusCode") == (408 if path == "/webhooks" else None)
    assert answer.get("error", {}) == "Request Timeout" or answer["error"]["code"] == 408
    assert is_closed(client)


def test_an_idle_connection_is_kept_for_its_seconds(hurried: Web) -> None:
    client = hurried.connect(GET)
    assert read_answer(client)
    began = time.monotonic()
    time.sleep(KEEP_ALIVE / 2)
    client.sendall(GET)
    assert read_answer(client)

    assert is_closed(client)
    assert time.monotonic() - began >= KEEP_ALIVE * 3 / 2 - 0.1


def test_a_proxy_may_connect_ahead_for_as_long(database: None, tmp_path: Path) -> None:
    constants = {f"{ALLOWANCES}.HEAD_SECONDS": 0.5}
    with running(tmp_path, options=f"--keep-alive {KEEP_ALIVE}", constants=constants) as web:
        began = time.monotonic()
        silent = web.connect()

        assert is_closed(silent)
        assert time.monotonic() - began >= KEEP_ALIVE - 0.1


def test_idle_connections_outlive_those_of_proxies() -> None:
    line = shlex.split(PROCFILE["web"].partition("$(")[0])
    assert int(line[line.index("--keep-alive") + 1]) > 60


def test_deadlines_and_bounds_are_those_of_the_manual() -> None:
    manual = " ".join((ROOT / "docs" / "operating.md").read_text().split())

    for sentence in (
        f"{allowances.HEAD_SECONDS:g} seconds for headers, {allowances.BODY_SECONDS:g} for a body "
        f"({allowances.UPLOAD_SECONDS:g} for one with a file and for POST /platform/feed)",
        f"read at {allowances.READER_BYTES / allowances.READER_SECONDS / 1024:g} KiB a second",
        f"at most {allowances.MOST_SPOOLED // 2**20} MiB for each process",
    ):
        assert sentence in manual
    assert allowances.FEED_SECONDS == allowances.UPLOAD_SECONDS


# Turns


def test_refused_caller_that_retries_at_once_waits_a_little(web: Web) -> None:
    limited = as_company("acme", "limited")

    for _ in range(3):
        assert web.ask(limited).startswith(b"HTTP/1.1 429 ")
    assert web.ask(as_company("birch", "quick")).startswith(b"HTTP/1.1 200 ")

    began = time.monotonic()
    assert web.ask(as_company("acme", "quick")).startswith(b"HTTP/1.1 200 ")
    assert web.ask(limited).startswith(b"HTTP/1.1 429 ")
    assert web.ask(limited).startswith(b"HTTP/1.1 429 ")
    assert time.monotonic() - began > REST_SECONDS


def test_made_up_tokens_rest_as_one_stranger(web: Web) -> None:
    """Group them: each would have a row of its own if the caller's text named it."""
    began = time.monotonic()

    for number in range(5):
        assert web.ask(as_company(f"made_up_{number}", "limited")).startswith(b"HTTP/1.1 429 ")

    assert time.monotonic() - began > 4 * REST_SECONDS


@pytest.mark.parametrize("token", ["made_up_%d", "acme"])
def test_busy_caller_leaves_a_thread_to_others(web: Web, token: str) -> None:
    tokens = [token.replace("%d", str(number)) for number in range(20)]
    clients = [web.connect(as_company(each, "held")) for each in tokens]
    web.is_asked("/held")

    assert web.ask(as_company("birch", "quick")).startswith(b"HTTP/1.1 200 ")
    assert web.asked.count("/held") == 1

    web.open_gate()
    assert all(read_answer(client) for client in clients)


def test_health_is_answered_while_every_thread_is_busy(web: Web) -> None:
    clients = [web.connect(as_company(name, "held")) for name in ("acme", "birch", "cedar")]
    web.is_asked("/held", 2)

    assert web.ask(GET.replace(b"quick", b"healthz")).startswith(b"HTTP/1.1 200 ")
    assert web.asked.count("/held") == 2

    web.open_gate()
    assert all(read_answer(client) for client in clients)


def test_time_in_the_row_counts(web: Web) -> None:
    """Count from the arrival of the request."""
    assert 5 < float(read_due(web.ask(asking_for("due")))) < 10
    clients = [web.connect(as_company(name, "held")) for name in ("acme", "birch")]
    web.is_asked("/held", 2)
    waits = web.connect(asking_for("due"))

    time.sleep(1)
    web.open_gate()

    assert 5 < float(read_due(read_answer(waits))) < 9
    assert all(read_answer(client) for client in clients)


def read_due(answer: bytes) -> bytes:
    return answer.partition(b"\r\n\r\n")[2]


# Connections


def test_longest_idle_connection_makes_room(database: None, tmp_path: Path) -> None:
    with running(tmp_path, options="--worker-connections 30") as web:
        idle = [web.connect() for _ in range(40)]

        assert web.ask(GET).startswith(b"HTTP/1.1 200 ")
        assert all(is_closed(client) for client in idle[:10])
        idle[-1].sendall(GET)
        assert read_answer(idle[-1])


def stay(web: Web, number: int) -> list[socket.socket]:
    """Return connections that have room, once those of earlier clients are noticed as closed."""
    staying: list[socket.socket] = []

    def are_in() -> bool:
        client = web.connect(GET)
        if read_answer(client).startswith(b"HTTP/1.1 200 "):
            staying.append(client)
        return len(staying) == number

    wait_until(are_in, f"room for {number} connections")
    return staying


def test_connections_of_an_address_are_limited(database: None, tmp_path: Path) -> None:
    with running(tmp_path, CONNECTIONS_PER_ADDRESS="3", **STRANGERS) as web:
        first, *_ = stay(web, 3)

        refusal = read_answer(web.connect())
        assert refusal.startswith(b"HTTP/1.1 429 ")
        assert b"\r\nRetry-After: 5\r\n" in refusal
        assert json.loads(refusal.partition(b"\r\n\r\n")[2])["statusCode"] == 429

        first.close()
        stay(web, 1)


def test_a_refused_connection_ends_without_a_reset(database: None, tmp_path: Path) -> None:
    """Trap: a reset discards the refusal that a client has not read yet (RFC 9112, 9.6)."""
    with running(tmp_path, CONNECTIONS_PER_ADDRESS="1", **STRANGERS) as web:
        stay(web, 1)
        (worker,) = web.workers
        os.kill(worker, signal.SIGSTOP)
        client = web.connect(GET)  # arrives as a whole before it is refused
        os.kill(worker, signal.SIGCONT)

        assert read_answer(client).startswith(b"HTTP/1.1 429 ")
        assert client.recv(1) == b""


# Large bodies

LARGE_BODY = b"Content-Length: 100000\r\nAuthorization: Bearer one\r\n"


@pytest.mark.parametrize("expects", [b"", b"Expect: 100-continue\r\n"])
def test_a_stranger_s_large_body_is_not_waited_for(web: Web, expects: bytes) -> None:
    client = web.connect(HEAD % b"/quick?5" + LARGE_BODY + expects + b"\r\n")

    answer = read_answer(client)

    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"\r\nconnection: close\r\n" in answer.lower()
    assert is_closed(client)


def authorized() -> bytes:
    token = services.issue_token(build.company().pk)
    return f"Authorization: Bearer {token}\r\n".encode()


@pytest.mark.usefixtures("rows_to_keep")
def test_a_known_sender_s_large_body_is_taken_in(web: Web) -> None:
    expects = b"Content-Length: 100000\r\nExpect: 100-continue\r\n\r\n"
    client = web.connect(HEAD % b"/echo" + authorized() + expects)

    assert read_answer(client) == b"HTTP/1.1 100 Continue\r\n\r\n"
    client.sendall(b"b" * 100_000)

    assert read_answer(client).endswith(b"\r\n\r\n" + b"b" * 100_000)


def test_a_small_body_is_asked_for_where_its_sender_waits(web: Web) -> None:
    client = web.connect(HEAD % b"/echo" + b"Content-Length: 5\r\nExpect: 100-continue\r\n\r\n")

    assert read_answer(client) == b"HTTP/1.1 100 Continue\r\n\r\n"
    client.sendall(b"abcde")

    assert read_answer(client).endswith(b"\r\n\r\nabcde")


@pytest.mark.usefixtures("rows_to_keep")
@pytest.mark.parametrize("authenticated", [True, False])
def test_chunks_are_taken_in_up_to_the_same_size(web: Web, authenticated: bool) -> None:
    who = authorized() if authenticated else b""
    client = web.connect(HEAD % b"/echo" + who + b"Transfer-Encoding: chunked\r\n\r\n")

    client.sendall(b"%x\r\n" % 100_000 + b"c" * 100_000 + b"\r\n0\r\n\r\n")

    answer = read_answer(client)
    assert answer.endswith(b"c" * 100_000) == authenticated
    assert answer.startswith(b"HTTP/1.1 200 ") == authenticated


def test_tiny_chunks_end_at_twice_the_size_of_what_they_may_hold(web: Web) -> None:
    """End them early: each costs time, and takes six times its byte in the stream."""
    client = web.connect(HEAD % b"/quick?5" + b"Transfer-Encoding: chunked\r\n\r\n")

    client.sendall(b"1\r\na\r\n" * 30_000)

    answer = read_answer(client)
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"\r\nconnection: close\r\n" in answer.lower()


def test_largest_holder_is_closed_when_memory_is_full(database: None, tmp_path: Path) -> None:
    with running(tmp_path, constants={f"{ALLOWANCES}.MOST_HELD": 100_000}) as web:
        much = web.connect(HEAD % b"/echo" + b"Content-Length: 65536\r\n\r\n" + b"m" * 60_000)
        little = web.connect(HEAD % b"/echo" + b"Content-Length: 50000\r\n\r\n" + b"l" * 45_000)

        refusal = read_answer(much)
        assert refusal.startswith(b"HTTP/1.1 503 ")
        assert b"\r\nRetry-After: 5\r\n" in refusal
        little.sendall(b"l" * 5000)
        assert read_answer(little).startswith(b"HTTP/1.1 200 ")


# Slow readers


@pytest.mark.parametrize("path", ["much", "streamed", "file"])
@pytest.mark.parametrize("version", ["1.1", "1.0"])
def test_slow_readers_take_up_no_thread(web: Web, path: str, version: str) -> None:
    request = asking_for(f"{path}?{LARGE}", version)
    slow = [web.connect(request, 4096) for _ in range(4)]

    assert web.ask(GET).startswith(b"HTTP/1.1 200 ")
    with slow[0].makefile("rb") as file:
        assert read_body(file) == b"a" * LARGE


def test_unread_output_is_spooled_to_disk(web: Web) -> None:
    request = asking_for(f"streamed?{LARGE}")
    for _ in range(4):  # fill the allocator's cache
        web.ask(request)
    before = web.memory()
    for _ in range(24):
        web.connect(request, 4096)
    web.is_asked("/streamed", 28)

    wait_until(lambda: web.memory() - before < 10 * LARGE, "what waits to be on disk")


def test_a_head_request_for_much_gets_no_body(web: Web) -> None:
    for path in ("much?1000000", "file?1000000", "streamed?1000000"):
        client = web.connect(asking_for(path).replace(b"GET", b"HEAD") + GET)
        with client.makefile("rb") as file:
            for _ in range(2):
                lines = list(iter(file.readline, b"\r\n"))
                assert lines[0] == b"HTTP/1.1 200 OK\r\n"


def test_a_large_answer_keeps_what_is_pipelined_behind_it(web: Web) -> None:
    client = web.connect(asking_for("file?3000000") + asking_for("much?5"), 4096)

    with client.makefile("rb") as file:
        assert read_body(file) == b"a" * 3_000_000
        assert read_body(file) == b"a" * 5


@pytest.mark.slow
def test_slow_reader_is_kept_and_stalled_one_is_closed(hurried: Web) -> None:
    request = asking_for(f"much?{LONG}")
    phone, nobody = (hurried.connect(request, 4096) for _ in range(2))
    began = time.monotonic()

    received = 0
    while time.monotonic() - began < 2.5 * READER_SECONDS:
        received += len(phone.recv(16384))
        time.sleep(0.01)

    assert received < LONG
    assert received + bytes_left(phone) > LONG
    assert bytes_left(nobody) < LONG


def bytes_left(client: socket.socket) -> int:
    """Count the bytes that arrive until the connection ends or nothing more comes."""
    received = 0
    with suppress(ConnectionError, TimeoutError):
        client.settimeout(5)
        while data := client.recv(65536):
            received += len(data)
    return received


def test_largest_holder_is_closed_when_the_disk_is_full(database: None, tmp_path: Path) -> None:
    with running(tmp_path, constants={f"{ALLOWANCES}.MOST_SPOOLED": LARGE}) as web:
        much = web.connect(asking_for(f"much?{LARGE}"), 4096)
        web.is_asked("/much")
        web.answers()
        less = web.connect(asking_for(f"much?{LARGE // 2}"), 4096)
        web.is_asked("/much", 2)

        assert bytes_left(much) < LARGE
        with less.makefile("rb") as file:
            assert len(read_body(file)) == LARGE // 2


# Requests in their order, and the ends of connections


@pytest.mark.parametrize("step", [1, 7, 10_000])
def test_answers_pipelined_requests_in_order(web: Web, step: int) -> None:
    requests = (
        GET
        + HEAD % b"/echo"
        + b"Content-Length: 2\r\n\r\nab\r\n"
        + HEAD % b"/echo"
        + b"Transfer-Encoding: chunked\r\n\r\n"
        + b"3;x=1\r\nabc\r\nA\r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\n"
        + asking_for("much?3")
    )
    client = web.connect()
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for start in range(0, len(requests), step):
        client.sendall(requests[start : start + step])

    with client.makefile("rb") as file:
        answers = [read_body(file) for _ in range(4)]

    assert answers == [b"", b"ab", b"abc0123456789", b"aaa"]
    assert web.asked == ["/quick", "/echo", "/echo", "/much"]


def test_a_chunked_body_gets_a_length(web: Web) -> None:
    chunks = b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"

    environ = environ_of(web, HEAD % b"/seen" + chunks)

    assert environ["CONTENT_LENGTH"] == "3"
    assert "HTTP_TRANSFER_ENCODING" not in environ


def test_two_idempotency_keys_become_one_that_no_view_takes(web: Web) -> None:
    """Refuse both: WSGI would join them to `a,b`, which may be a valid key."""
    keys = b"Idempotency-Key: a\r\nidempotency-key: b\r\nX-Other: c\r\nX-Other: d\r\n\r\n"

    environ = environ_of(web, asking_for("seen")[:-2] + keys)

    assert environ["HTTP_IDEMPOTENCY_KEY"] == "a, b"
    with pytest.raises(idempotency.BadKey):
        idempotency.check_key(environ["HTTP_IDEMPOTENCY_KEY"])
    assert environ["HTTP_X_OTHER"] == "c,d"


@pytest.mark.parametrize("target", ["/seen?a=%41", "http://x/seen?a=%41"])
def test_the_application_is_told_of_the_request_as_it_came(web: Web, target: str) -> None:
    request = f"GET {target} HTTP/1.1\r\nHost: x\r\nA_B: 1\r\nA-B: 2\r\n\r\n"
    environ = environ_of(web, request.encode())

    expected = {
        "REQUEST_METHOD": "GET",
        "SCRIPT_NAME": "",
        "PATH_INFO": "/seen",
        "QUERY_STRING": "a=%41",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "SERVER_PORT": str(web.port),
        "HTTP_HOST": "x",
        "HTTP_A_B": "2",
        "wsgi.url_scheme": "http",
    }
    assert {name: environ.get(name) for name in expected} == expected


def test_a_path_is_unquoted_as_wsgi_has_it(web: Web) -> None:
    web.ask(b"GET /a%20%C3%A9%FF?b HTTP/1.1\r\nHost: x\r\n\r\n")
    path = (web.folder / "asked").read_bytes().decode()
    assert path == "/a \xc3\xa9\xff\n"


def test_a_client_that_has_closed_its_side_is_answered(web: Web) -> None:
    client = web.connect(GET)
    client.shutdown(socket.SHUT_WR)

    assert read_answer(client).startswith(b"HTTP/1.1 200 ")
    assert is_closed(client)


def test_all_that_came_before_a_client_closed_its_side_is_answered(web: Web) -> None:
    client = web.connect(asking_for("held") + asking_for("much?5"))
    client.shutdown(socket.SHUT_WR)
    web.is_asked("/held")
    web.open_gate()

    with client.makefile("rb") as file:
        assert read_body(file) == b""
        assert read_body(file) == b"aaaaa"
        assert file.read() == b""


@pytest.mark.parametrize("kind", SLOW)
def test_a_request_that_breaks_off_reaches_nobody(web: Web, kind: str) -> None:
    client = web.connect(SLOW[kind])
    client.shutdown(socket.SHUT_WR)

    assert is_closed(client)
    assert web.ask(GET).startswith(b"HTTP/1.1 200 ")
    assert web.asked == ["/quick"]


def test_http_1_0_is_answered_and_closed_unless_it_asks_to_be_kept(web: Web) -> None:
    client = web.connect(asking_for("much?5", "1.0"))
    assert read_answer(client).endswith(b"\r\n\r\naaaaa")
    assert is_closed(client)

    client = web.connect(asking_for("much?5", "1.0")[:-2] + b"Connection: keep-alive\r\n\r\n")
    assert read_answer(client).endswith(b"\r\n\r\naaaaa")
    client.sendall(asking_for("much?5", "1.0"))
    assert read_answer(client).endswith(b"\r\n\r\naaaaa")


def test_nobody_gets_a_websocket(web: Web) -> None:
    wishes = b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    key = b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"

    assert web.ask(asking_for("much?5")[:-2] + wishes + key).endswith(b"\r\n\r\naaaaa")


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\nHost: x\n",
        b"GET / HTTP/1.1\r\nHost: x\nY: 1\r\n",
        b"a" * 65537,
        b"GET / HTTP/1.1\r\nX: " + b"a" * 65537,
        b"GET / HTTP/1.1\r\n" + b"X: %b\r\n" % (b"a" * 8000) * 9,
    ],
)
def test_does_not_wait_for_a_head_that_can_have_no_end(web: Web, head: bytes) -> None:
    assert re.match(rb"HTTP/1.1 4(00|14|31) ", web.ask(head))


@pytest.mark.parametrize(
    "chunks",
    [
        b"-1\r\n",
        b"0x1\r\na\r\n",
        b" 1\r\na\r\n",
        b"1\r\nab\r\n",
        b"1 \r\na\r\n",
        b"1\na\n",
        b"1;\x00\r\na\r\n",
        b"\r\n",
        b"1;" + b"a" * 9000,
        b"0\r\nContent-Length: 5\r\n\r\n",
        b"0\r\nTransfer-Encoding: chunked\r\n\r\n",
    ],
)
def test_refuses_chunks_that_could_be_read_in_two_ways(web: Web, chunks: bytes) -> None:
    answer = web.ask(HEAD % b"/echo" + b"Transfer-Encoding: chunked\r\n\r\n" + chunks)

    assert answer.startswith(b"HTTP/1.1 400 ")
    assert web.asked == []


def test_an_application_that_breaks_is_answered_for(web: Web) -> None:
    request = asking_for("broken")[:-2] + b"X-Request-Id: mine-7\r\n\r\n"

    head, _, body = web.ask(request).partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 500 ")
    assert b"\r\nX-Request-Id: mine-7\r\n" in head
    assert json.loads(body)["statusCode"] == 500


# Stops


def test_stop_answers_started_requests(database: None, tmp_path: Path) -> None:
    with running(tmp_path) as web:
        idle = web.connect(GET)
        read_answer(idle)
        client = web.connect(GET.replace(b"quick", b"held"))
        sender = web.connect(SLOW["body"])
        web.is_asked("/held")

        web.ask_to_stop()
        wait_until(lambda: not accepts(web), "the process to take nobody")
        web.open_gate()
        sender.sendall(b"cde")

        assert read_answer(client).startswith(b"HTTP/1.1 200 ")
        assert read_answer(sender).endswith(b"abcde")
        idle.sendall(GET)
        assert b"\r\nconnection: close\r\n" in read_answer(idle).lower()
        assert is_closed(idle)
        assert is_closed(sender)
        web.close_clients()
        assert web.wait_for_end() == 0


def accepts(web: Web) -> bool:
    with suppress(OSError):
        socket.create_connection(("127.0.0.1", web.port), timeout=1).close()
        return True
    return False


def test_stop_answers_open_connections_and_refuses_later_ones(
    database: None, tmp_path: Path
) -> None:
    """Answer it: a proxy sends a refused request elsewhere, but never repeats an accepted POST."""
    with running(tmp_path) as web:
        client = web.connect(GET.replace(b"quick", b"held"))
        web.is_asked("/held")
        (worker,) = web.workers
        os.kill(worker, signal.SIGSTOP)
        waits = web.connect(GET)
        os.kill(worker, signal.SIGTERM)
        web.ask_to_stop()
        os.kill(worker, signal.SIGCONT)

        assert read_answer(waits).startswith(b"HTTP/1.1 200 ")
        wait_until(lambda: not accepts(web), "the process to take nobody")
        web.open_gate()
        assert read_answer(client).startswith(b"HTTP/1.1 200 ")


@pytest.mark.slow
def test_processes_end_after_their_number_of_requests_and_lose_none(
    database: None, tmp_path: Path
) -> None:
    options = "--max-requests 60 --max-requests-jitter 20"
    with running(tmp_path, options=options, WEB_CONCURRENCY="2") as web:
        first = set(web.workers)
        troubles: list[str] = []
        threads = [threading.Thread(target=ask_often, args=(web, troubles)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert troubles == []
        wait_until(lambda: first.isdisjoint(web.workers), "other processes")
        assert len(web.asked) == 6 * 60


def ask_often(web: Web, troubles: list[str]) -> None:
    """Send sixty requests, on connections that stay open as long as the process keeps them."""
    client = http.client.HTTPConnection("127.0.0.1", web.port, timeout=60)
    for number in range(60):
        try:
            client.request("POST" if number % 2 else "GET", "/quick", b"ab" if number % 2 else None)
            answer = client.getresponse()
            answer.read()
            if answer.status != 200:
                troubles.append(str(answer.status))
        except (OSError, http.client.HTTPException) as error:
            troubles.append(f"{number}: {error!r}")
            client.close()
    client.close()


@pytest.mark.slow
def test_a_process_that_makes_room_waits_longer_than_one_that_is_told_to_stop(
    database: None, tmp_path: Path
) -> None:
    options = "--max-requests 3 --max-requests-jitter 0 --graceful-timeout 1"
    with running(tmp_path, options=options) as web:
        slow = web.connect(GET.replace(b"quick", b"held"))
        web.is_asked("/held")
        (first,) = web.workers
        client = web.connect()
        wait_until(lambda: says_close(client), "the last request that is taken")
        time.sleep(3)
        web.open_gate()

        assert read_answer(slow).startswith(b"HTTP/1.1 200 ")
        wait_until(lambda: first not in web.workers, "the first to end")


@pytest.mark.slow
@pytest.mark.parametrize("patience", [3.0, 60.0])
def test_a_process_that_is_too_large_answers_what_has_begun_and_ends(
    database: None, tmp_path: Path, patience: float
) -> None:
    constants = {"config.door.outgrown.FOR_A_QUIET_MOMENT_SECONDS": patience}
    with running(tmp_path, constants=constants, WEB_MEMORY_MIB="1") as web:
        idle = web.connect(GET)
        read_answer(idle)
        client = web.connect(GET.replace(b"quick", b"held"))
        web.is_asked("/held")
        (first,) = web.workers

        assert web.ask(asking_for("grow?200000000")).startswith(b"HTTP/1.1 200 ")
        time.sleep(2.5)
        assert web.workers == [first]
        assert web.ask(GET).startswith(b"HTTP/1.1 200 ")
        if patience < 60:
            wait_until(lambda: says_close(idle), "the process to go")
        web.open_gate()

        assert read_answer(client).startswith(b"HTTP/1.1 200 ")
        web.close_clients()
        wait_until(lambda: web.workers not in ([], [first]), "the first to end")


def says_close(client: socket.socket) -> bool:
    client.sendall(GET)
    return b"\r\nconnection: close\r\n" in read_answer(client).lower()
