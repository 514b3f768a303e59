import socket
import time
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from threading import Event

import pytest

from deliveries.http.answers import Failure, Reply
from deliveries.http.transport import Request, Transport, send_one
from tests.deliveries.hostile import (
    HEADERS,
    LOOPBACK,
    OK,
    Visitor,
    good,
    receiver,
    saying,
    send,
    send_in_turn,
    silent,
)
from tests.deliveries.name_server import name_server
from tests.waiting import PATIENCE_SECONDS, wait_until
from webhooks.targets import Policy


def test_sends_what_it_is_given_and_nothing_of_its_own() -> None:
    with receiver(good) as running:
        reply = send_one(Request(running.url, b"\x00\xff{}", HEADERS, "key"), LOOPBACK)
    assert (reply.key, reply.status, reply.answer, reply.ok) == ("key", 200, b"ok", True)
    head, _, body = running.requests[0].partition(b"\r\n\r\n")
    assert body == b"\x00\xff{}"
    assert head.split(b"\r\n") == [
        b"POST /hook HTTP/1.1",
        b"Host: 127.0.0.1:%d" % running.port,
        b"Accept: */*",
        b"Content-Type: application/json",
        b"User-Agent: parceldesk/1.0.0",
        b"Accept-Encoding: identity",
        b"Content-Length: 4",
    ]


def test_sends_the_path_and_a_large_body_as_they_are() -> None:
    body = bytes(range(256)) * 4096
    with receiver(good) as running:
        assert send(running.url + "/../a//b%2F?c=%0d&d", body=body).ok
    assert running.requests[0].startswith(b"POST /hook/../a//b%2F?c=%0d&d HTTP/1.1\r\n")
    assert running.requests[0].endswith(b"\r\n\r\n" + body)


def test_gives_every_request_its_own_reply_over_few_connections() -> None:
    with receiver(good) as running, closing(Transport(LOOPBACK, concurrency=10)) as transport:
        waiting, keys = list(range(200)), []
        while len(keys) < 200:
            while waiting and transport.in_flight < transport.concurrency:
                transport.start(Request(running.url, b"{}", HEADERS, waiting.pop()))
            keys += [reply.key for reply in transport.wait(5.0) if reply.ok]
        assert sorted(keys) == list(range(200))
        assert running.connections <= 10


def test_asks_before_the_first_byte_goes_out_also_over_a_connection_that_is_kept() -> None:
    keys: list[object] = []

    def only_the_first(key: object) -> bool:
        keys.append(key)
        return key == "first"

    with receiver(good) as running, closing(Transport(LOOPBACK)) as transport:
        transport.ask_before_sending(only_the_first)
        replies = []
        for key in ("first", "second"):
            transport.start(Request(running.url, b"{}", HEADERS, key))
            replies += transport.wait(5.0)

        assert keys == ["first", "second"]
        assert [(reply.key, reply.error) for reply in replies] == [
            ("first", None),
            ("second", Failure.NOT_SENT),
        ]
        assert len(running.requests) == 1


def test_takes_no_more_than_its_concurrency() -> None:
    with receiver(silent) as running, closing(Transport(LOOPBACK, concurrency=1)) as transport:
        transport.start(Request(running.url, b"{}", HEADERS))
        with pytest.raises(RuntimeError):
            transport.start(Request(running.url, b"{}", HEADERS))
        assert transport.in_flight == 1


def test_waits_as_long_as_told_where_nothing_happens() -> None:
    with closing(Transport(LOOPBACK)) as transport:
        started = time.monotonic()
        assert transport.wait(0.1) == []
        assert time.monotonic() - started >= 0.09


def test_immediate_failure_delays_no_other_request() -> None:
    with receiver(good) as running, closing(Transport(LOOPBACK)) as transport:
        transport.start(Request(running.url, b"{}", HEADERS, "good"))
        keys: set[object] = set()
        for number in range(20_000):
            transport.start(Request("https://10.0.0.1/", b"{}", HEADERS, number))
            keys |= {reply.key for reply in transport.wait(30.0)}
            if "good" in keys:
                break
    assert "good" in keys


def test_closes_with_requests_in_flight() -> None:
    requested, disconnected = Event(), Event()

    def waiting(visitor: Visitor) -> None:
        visitor.read_request()
        requested.set()
        with suppress(ConnectionError):
            visitor.read_request()
        disconnected.set()

    with receiver(waiting) as running:
        transport = Transport(LOOPBACK)
        transport.start(Request(running.url, b"{}", HEADERS))
        wait_until(lambda: transport.wait(0.01) or requested.is_set(), "the request")

        transport.close()

        assert disconnected.wait(PATIENCE_SECONDS)


def test_delivers_where_the_receiver_has_closed_the_connection_meanwhile() -> None:
    with receiver(saying(OK)) as running, closing(Transport(LOOPBACK)) as transport:
        assert all(reply.ok for reply in send_in_turn(transport, *[running.url] * 4))
        assert (running.connections, len(running.requests)) == (4, 4)


def test_tries_again_only_where_a_used_connection_broke_without_a_byte() -> None:
    def once(visitor: Visitor) -> None:
        visitor.read_request()
        visitor.say(OK)
        visitor.read_request()
        visitor.slam()

    with receiver(once) as running, closing(Transport(LOOPBACK)) as transport:
        assert all(reply.ok for reply in send_in_turn(transport, *[running.url] * 2))
        assert (running.connections, len(running.requests)) == (2, 3)
    with receiver(saying()) as running:
        assert send(running.url).error == Failure.RESET
        assert len(running.requests) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_follows_no_redirect(status: int) -> None:
    with receiver(good) as elsewhere:
        answer = b"HTTP/1.1 %d No\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n"
        with receiver(saying(answer % (status, elsewhere.url.encode()))) as running:
            reply = send(running.url)
        assert (reply.status, reply.ok, len(running.requests)) == (status, False, 1)
        assert elsewhere.connections == 0


def test_keeps_no_cookie() -> None:
    cookie = b"HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n"
    with receiver(saying(cookie)) as running, closing(Transport(LOOPBACK)) as transport:
        send_in_turn(transport, running.url, running.url)
    assert len(running.requests) == 2
    assert b"cookie" not in b"".join(running.requests).lower()


def test_reads_no_proxy_and_no_netrc_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".netrc").write_text("default login someone password secret\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    with receiver(good) as proxy, receiver(good) as running:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        assert send(running.url).ok
        assert b"authorization" not in running.requests[0].lower()
        assert proxy.connections == 0


def test_says_that_nobody_listens() -> None:
    with closing(socket.socket()) as unused:
        # Bound but not listening, so that nobody else can listen there meanwhile.
        unused.bind(("127.0.0.1", 0))
        reply = send(f"http://127.0.0.1:{unused.getsockname()[1]}/")
    assert (reply.status, reply.error) == (None, Failure.REFUSED)
    assert reply.duration_ms < 9_000, "it ended before the time allowed"


def test_gives_up_early_where_packets_are_swallowed() -> None:
    with ExitStack() as stack:
        full = stack.enter_context(closing(socket.create_server(("127.0.0.1", 0), backlog=0)))
        for _ in range(3):
            client = stack.enter_context(closing(socket.socket()))
            client.setblocking(False)
            client.connect_ex(full.getsockname())
        reply = send(f"http://127.0.0.1:{full.getsockname()[1]}/", timeout_seconds=5.0)
    assert reply.error == Failure.TIMEOUT
    assert 2_500 < reply.duration_ms < 4_900


def test_reaches_a_name_whose_first_address_is_dead() -> None:
    with receiver(good, address="::1") as running:
        policy = Policy(True, LOOPBACK.allowed_networks, frozenset({running.port}))
        url = f"http://hooks.example.com:{running.port}/"
        with name_server({"hooks.example.com": "127.0.0.1,::1"}) as server:
            assert send(url, policy, name_servers=[server.address]).ok


def test_delivers_to_a_receiver_that_is_slow_but_good() -> None:
    def slow(visitor: Visitor) -> None:
        visitor.read_request()
        visitor.rest(2.0)
        visitor.say(OK)

    with receiver(slow) as running:
        reply = send(running.url, timeout_seconds=5.0)
    assert reply.ok
    assert reply.duration_ms >= 1_990


def test_ends_in_time_where_the_name_takes_too_long() -> None:
    with name_server() as server:
        options = {"name_servers": [server.address], "timeout_seconds": 0.3}
        reply = send("https://dead.example.com/", **options)
    assert (reply.status, reply.error) == (None, Failure.DNS)
    assert reply.duration_ms >= 299


def test_takes_the_time_of_the_lookup_from_the_answers() -> None:
    with receiver(silent) as running, name_server({"hooks.example.com": "TIMEOUT"}) as server:
        policy = Policy(True, LOOPBACK.allowed_networks, frozenset({running.port}))
        options = {"name_servers": [server.address], "timeout_seconds": 3.5}
        with closing(Transport(policy, **options)) as transport:
            url = f"http://hooks.example.com:{running.port}/"
            transport.start(Request(url, b"{}", HEADERS))
            assert transport.wait(3.0) == []
            server.release("hooks.example.com", "127.0.0.1")
            (reply,) = transport.wait(30.0)
    assert reply.error == Failure.TIMEOUT
    assert 3_400 < reply.duration_ms < 6_300, "it got less than the whole time for itself"


def test_lets_a_slow_name_hold_up_nobody_else() -> None:
    with receiver(good) as running, name_server() as server:
        options = {"name_servers": [server.address], "timeout_seconds": 40.0}
        with closing(Transport(LOOPBACK, **options)) as transport:
            transport.start(Request("https://dead.example.com/", b"{}", HEADERS, "slow"))
            transport.start(Request(running.url, b"{}", HEADERS, "good"))
            assert [reply.key for reply in transport.wait(30.0)] == ["good"]


def test_living_names_do_not_wait_for_300_dead_ones() -> None:
    living = {f"hooks{number}.example.com": "127.0.0.1" for number in range(20)}
    with receiver(good) as running, name_server(living) as server:
        policy = Policy(True, LOOPBACK.allowed_networks, frozenset({running.port}))
        options = {"name_servers": [server.address], "timeout_seconds": 40.0, "concurrency": 400}
        with closing(Transport(policy, **options)) as transport:
            for number in range(300):
                transport.start(Request(f"https://dead{number}.example.com/", b"{}", (), "dead"))
            for host in living:
                transport.start(Request(f"http://{host}:{running.port}/", b"{}", HEADERS, host))
            replies: list[Reply] = []
            while len(replies) < len(living):
                replies += transport.wait(30.0)
    assert sorted(reply.key for reply in replies[: len(living)] if reply.ok) == sorted(living)


def test_sends_to_localhost_where_loopback_is_allowed() -> None:
    with receiver(good) as running:
        assert send(f"http://localhost:{running.port}/").ok
        assert send(f"http://one.localhost:{running.port}/").ok
        assert b"Host: one.localhost:" in running.requests[1]


def before_our_body(visitor: Visitor) -> None:
    visitor.say(OK)
    visitor.read_request()


def slamming(visitor: Visitor) -> None:
    visitor.connection.recv(1000)
    visitor.slam()


def test_takes_an_answer_that_comes_before_our_body_is_out() -> None:
    with receiver(before_our_body) as running:
        assert send(running.url, body=bytes(1024 * 1024)).status == 200


def test_says_that_the_connection_broke_while_we_were_sending() -> None:
    with receiver(slamming) as running:
        reply = send(running.url, body=bytes(1024 * 1024))
    assert (reply.status, reply.error) == (None, Failure.RESET)
