"""Headers that are never sent, and addresses that are never connected to."""

import errno
import socket
from contextlib import closing
from ipaddress import ip_network
from types import SimpleNamespace

import pytest

from deliveries.http.answers import Failure
from deliveries.http.resolver import Answer, Resolver
from deliveries.http.transport import Request, Transport, send_one
from tests.corpora import ssrf_urls
from tests.deliveries.hostile import LOOPBACK, good, receiver, send, send_in_turn
from tests.deliveries.name_server import name_server
from webhooks.addresses import why_forbidden
from webhooks.targets import Policy, check_target


@pytest.fixture
def no_sockets(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Refuse every socket; the list records the attempts to open one."""
    attempts: list[object] = []

    def refuse(*arguments: object) -> socket.socket:
        attempts.append(arguments)
        raise OSError(errno.EMFILE, "Too many open files")

    guarded = SimpleNamespace(socket=refuse, AF_INET=socket.AF_INET, AF_INET6=socket.AF_INET6)
    monkeypatch.setattr("deliveries.http.transport.socket", guarded)
    return attempts


@pytest.mark.parametrize("value", ["a\r\nX-Evil: b", "a\nb", "a\x00", "é", "\ud800"])
def test_sends_no_header_that_could_be_two(value: str) -> None:
    with receiver(good) as running:
        reply = send_one(Request(running.url, b"{}", (("Authorization", value),)), LOOPBACK)
        assert reply.error == Failure.INTERNAL
        assert value not in reply.detail
        assert running.connections == 0


def test_checks_the_url_again_before_sending(no_sockets: list[object]) -> None:
    for url in ("http://example.com/", "https://10.0.0.1/", "https://localhost/", "x"):
        reply = send(url, policy=Policy())
        assert (reply.status, reply.error) == (None, Failure.BAD_TARGET)
    assert no_sockets == []


def leading_inside() -> list[tuple[str, str]]:
    """Return the corpus's bad URLs whose name resolves to a forbidden address, and that address."""
    bad = [row for row in ssrf_urls() if not row.good and row.answers != "-"]
    last = [(row.url, row.answers.split("|")[-1]) for row in bad]
    return [
        (url, answer)
        for url, answer in last
        if any(why_forbidden(each) for each in answer.rpartition(">")[2].split(","))
    ]


@pytest.mark.parametrize(("url", "answer"), leading_inside())
def test_opens_no_socket_for_a_name_that_leads_inside(
    url: str, answer: str, no_sockets: list[object]
) -> None:
    host = check_target(url, Policy()).host
    with name_server({host: answer}) as server:
        reply = send(url, Policy(), name_servers=[server.address])
    assert (reply.status, reply.error) == (None, Failure.FORBIDDEN_ADDRESS)
    assert no_sockets == []


def test_connects_no_more_when_a_name_begins_to_lead_inside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("deliveries.http.resolver.FRESH_SECONDS", 0.0)
    monkeypatch.setattr("deliveries.http.resolver.USABLE_SECONDS", 0.0)
    host = "rebind.example.com"
    with receiver(good) as outside, name_server({host: "127.0.0.1"}) as server:
        policy = Policy(True, (ip_network("127.0.0.1/32"),), frozenset({outside.port}))
        url = f"http://{host}:{outside.port}/"
        with closing(Transport(policy, name_servers=[server.address])) as transport:
            (first,) = send_in_turn(transport, url)
            server.answers[host] = "127.0.0.1,::1"
            (second,) = send_in_turn(transport, url)
        assert (first.ok, second.error) == (True, Failure.FORBIDDEN_ADDRESS)
        assert len(outside.requests) == 1


def test_vets_the_address_at_the_socket_whatever_the_resolver_says(
    monkeypatch: pytest.MonkeyPatch, no_sockets: list[object]
) -> None:
    monkeypatch.setattr(Resolver, "_vet", lambda *_: Answer(("127.0.0.1", "::1")))
    with name_server({"hooks.example.com": "93.184.216.34"}) as server:
        reply = send("https://hooks.example.com/", Policy(), name_servers=[server.address])
    assert (reply.status, reply.error) == (None, Failure.FORBIDDEN_ADDRESS)
    assert no_sockets == []


def test_calls_a_lack_of_descriptors_our_own_fault(no_sockets: list[object]) -> None:
    reply = send("http://127.0.0.1:9/")
    assert (reply.error, reply.detail) == (
        Failure.INTERNAL,
        "No socket to be had: Too many open files.",
    )
    assert len(no_sockets) == 1
