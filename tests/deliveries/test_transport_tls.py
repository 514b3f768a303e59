"""TLS 1.2 or later to servers that prove their name, and never plain HTTP instead."""

import ssl
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trustme

from deliveries.http.answers import Failure, Reply
from deliveries.http.transport import Transport
from tests.deliveries.hostile import (
    LOOPBACK,
    Habit,
    Visitor,
    good,
    receiver,
    send,
    send_in_turn,
    silent,
)
from tests.deliveries.name_server import name_server
from webhooks.targets import Policy

NAME = "hooks.example.com"
TODAY = datetime.now(UTC)
DAY = timedelta(days=1)


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def bundle(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("tls") / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return str(path)


def server(
    authority: trustme.CA, *names: str, since: datetime | None = None, until: datetime | None = None
) -> ssl.SSLContext:
    """Return a receiver's TLS context with a certificate for these names, by default for a day."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    names = names or ("127.0.0.1", NAME)
    cert = authority.issue_cert(*names, not_before=since, not_after=until or TODAY + DAY)
    cert.configure_cert(context)
    return context


def post(context: ssl.SSLContext, bundle: str, habit: Habit = good) -> tuple[Reply, int]:
    """Send to such a server; return the reply and the number of requests that it could read."""
    with receiver(habit, tls=context) as running:
        reply = send(running.url, ca_bundle=bundle, timeout_seconds=10.0)
        return reply, len(running.requests)


def test_delivers_to_a_server_that_proves_its_name(authority: trustme.CA, bundle: str) -> None:
    reply, requests = post(server(authority), bundle)
    assert (reply.ok, requests) == (True, 1)


def test_uses_a_tls_connection_again(authority: trustme.CA, bundle: str) -> None:
    with receiver(good, tls=server(authority)) as running:
        with closing(Transport(LOOPBACK, ca_bundle=bundle)) as transport:
            assert all(reply.ok for reply in send_in_turn(transport, *[running.url] * 3))
        assert running.connections == 1


def test_asks_a_pinned_address_for_the_certificate_of_the_name(
    authority: trustme.CA, bundle: str
) -> None:
    context = server(authority, NAME)
    server_names: list[str] = []
    context.sni_callback = lambda _, name, __: server_names.append(name)
    names = dict.fromkeys([NAME, "other.example.com"], "127.0.0.1")
    with receiver(good, tls=context) as running, name_server(names) as answering:
        policy = Policy(True, LOOPBACK.allowed_networks, frozenset({running.port}))
        options = {"ca_bundle": bundle, "name_servers": [answering.address]}
        assert send(f"https://{NAME}:{running.port}/", policy, **options).ok
        assert b"Host: %s:%d\r\n" % (NAME.encode(), running.port) in running.requests[0]
        other = send(f"https://other.example.com:{running.port}/", policy, **options)
        assert other.error == Failure.TLS
        assert len(running.requests) == 1
    assert server_names == [NAME, "other.example.com"]


def test_refuses_a_certificate_nobody_trusted_has_signed(bundle: str) -> None:
    reply, requests = post(server(trustme.CA()), bundle)
    assert (reply.error, requests) == (Failure.TLS, 0)


def test_trusts_the_public_authorities_alone_by_default(authority: trustme.CA) -> None:
    with receiver(good, tls=server(authority)) as running:
        assert send(running.url).error == Failure.TLS
        assert running.requests == []


@pytest.mark.parametrize(
    ("since", "until"), [(TODAY - 9 * DAY, TODAY - DAY), (TODAY + DAY, TODAY + 9 * DAY)]
)
def test_says_when_a_certificate_is_out_of_its_time(
    since: datetime, until: datetime, authority: trustme.CA, bundle: str
) -> None:
    reply, requests = post(server(authority, since=since, until=until), bundle)
    assert (reply.error, requests) == (Failure.TLS_EXPIRED, 0)


def test_refuses_a_certificate_of_another_name(authority: trustme.CA, bundle: str) -> None:
    reply, requests = post(server(authority, "other.example.com"), bundle)
    assert (reply.error, requests) == (Failure.TLS, 0)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_speaks_no_older_version_than_tls_1_2(authority: trustme.CA, bundle: str) -> None:
    context = server(authority)
    context.minimum_version = ssl.TLSVersion.TLSv1
    context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.set_ciphers("ALL:@SECLEVEL=0")
    reply, requests = post(context, bundle)
    assert (reply.error, requests) == (Failure.TLS, 0)


def test_speaks_tls_1_2(authority: trustme.CA, bundle: str) -> None:
    context = server(authority)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    assert post(context, bundle)[0].ok


def test_fails_where_the_server_speaks_http_2_alone(authority: trustme.CA, bundle: str) -> None:
    def settings_frame(visitor: Visitor) -> None:
        visitor.say(b"\x00\x00\x00\x04\x00\x00\x00\x00\x00")
        with suppress(ConnectionError):
            visitor.read_request()

    context = server(authority)
    context.set_alpn_protocols(["h2"])
    reply, _ = post(context, bundle, settings_frame)
    assert (reply.status, reply.error) == (None, Failure.PROTOCOL)


def test_has_no_certificate_of_its_own_to_show(authority: trustme.CA, bundle: str) -> None:
    context = server(authority)
    context.verify_mode = ssl.CERT_REQUIRED
    authority.configure_trust(context)
    reply, requests = post(context, bundle)
    assert (reply.ok, requests) == (False, 0)
    assert reply.error in {Failure.TLS, Failure.RESET}


def test_ends_in_time_where_the_handshake_stalls(bundle: str) -> None:
    with receiver(silent) as running:
        url = running.url.replace("http:", "https:")
        reply = send(url, ca_bundle=bundle, timeout_seconds=0.5)
    assert reply.error == Failure.TIMEOUT
    assert reply.duration_ms < 20_000, "it ended before the server let go"


def test_never_falls_back_to_plain_http(bundle: str) -> None:
    with receiver(good) as running:
        url = running.url.replace("http:", "https:")
        reply = send(url, ca_bundle=bundle, timeout_seconds=2.0)
        assert reply.error in {Failure.TLS, Failure.TIMEOUT}
        assert running.requests == []


def test_calls_a_missing_bundle_our_own_fault(authority: trustme.CA, tmp_path: Path) -> None:
    reply, requests = post(server(authority), str(tmp_path / "none.pem"))
    assert (reply.error, requests) == (Failure.INTERNAL, 0)
