"""Outgoing proxy (decision N23): its requests, and whose failure its refusals are."""

import ssl
import time
from contextlib import closing
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
import trustme
from django.test import Client
from pytest_django import Settings

from companies.models import Company
from core.watch.doctor import Grade
from deliveries import publishing
from deliveries.engine import leases
from deliveries.http.answers import Failure, Reply
from deliveries.http.transport import Request, Transport, send_one
from deliveries.models import Attempt, Delivery, Health, State
from deliveries.on_demand.sample_delivery import send_sample
from tests import builders as build
from tests.core.test_doctor import examined
from tests.deliveries.hostile import HEADERS, LOOPBACK, good, receiver, send
from tests.deliveries.name_server import name_server
from tests.deliveries.proxy_server import proxy_server
from tests.sending import deliver, engine
from tools.faults.receiver import Receiver
from webhooks.outgoing import BadProxy, parse_proxy
from webhooks.targets import Policy

NAME = "hooks.example.com"
PUBLIC = "93.184.216.34"
CLOSED = "http://127.0.0.1:1"
SCHEMES = ("http", "socks5")


def through(url: str, proxy: str, policy: Policy = LOOPBACK, **options: Any) -> Reply:
    return send(url, policy, proxy=parse_proxy(proxy), **options)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_proxy_gets_the_address_and_the_receiver_proves_its_name(
    scheme: str, tmp_path: Path
) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(NAME).configure_cert(context)
    options = {"ca_bundle": str(tmp_path / "ca.pem"), "timeout_seconds": 10.0}
    with (
        receiver(good, tls=context) as running,
        proxy_server(scheme, running.port, login="ann:s%40cret") as proxy,
        name_server({NAME: PUBLIC, "other.example.com": PUBLIC}) as names,
    ):
        options["name_servers"] = [names.address]
        token = (*HEADERS, ("Authorization", "Bearer of-the-receiver"))
        request = Request(f"https://{NAME}/in", b"{}", token)
        reply = send_one(request, Policy(), proxy=parse_proxy(proxy.url), **options)
        assert (reply.status, reply.error) == (200, None)
        assert proxy.requests == [f"{PUBLIC}:443"]
        assert not any(b"of-the-receiver" in head or b"hooks" in head for head in proxy.heads)
        assert b"of-the-receiver" in running.requests[0]
        assert b"X-Proxy" not in reply.answer
        wrong = through("https://other.example.com/", proxy.url, Policy(), **options)
        assert wrong.error is Failure.TLS


@pytest.mark.parametrize("scheme", SCHEMES)
def test_names_are_judged_before_the_proxy_is_asked(scheme: str) -> None:
    with proxy_server(scheme, 1) as proxy, name_server({NAME: "10.0.0.1"}) as names:
        inside = through(f"https://{NAME}/", proxy.url, Policy(), name_servers=[names.address])
        assert inside.error is Failure.FORBIDDEN_ADDRESS
        reply = through("https://127.0.0.1/", proxy.url, Policy())
        assert reply.error is Failure.BAD_TARGET
        assert proxy.requests == []


@pytest.mark.parametrize(
    ("scheme", "refusal", "failure"),
    [
        ("http", 407, Failure.PROXY),
        ("http", 403, Failure.PROXY_REFUSED),
        ("http", 500, Failure.PROXY_REFUSED),
        ("http", 502, Failure.REFUSED),
        ("http", 503, Failure.REFUSED),
        ("http", 504, Failure.TIMEOUT),
        ("socks5", 1, Failure.PROXY_REFUSED),
        ("socks5", 2, Failure.PROXY_REFUSED),
        ("socks5", 3, Failure.REFUSED),
        ("socks5", 4, Failure.REFUSED),
        ("socks5", 5, Failure.REFUSED),
    ],
)
def test_whose_failure_a_refusal_is(scheme: str, refusal: int, failure: Failure) -> None:
    with proxy_server(scheme, 1, refusal) as proxy:
        reply = through("http://127.0.0.1:8000/", proxy.url)
        assert (reply.status, reply.error) == (None, failure)
        assert proxy.requests == ["127.0.0.1:8000"]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_login_that_is_missing_or_a_proxy_that_is_away_is_ours(scheme: str) -> None:
    with proxy_server(scheme, 1, login="ann:secret") as proxy:
        assert through("http://127.0.0.1:8000/", proxy.address).error is Failure.PROXY
    away = through("http://127.0.0.1:8000/", f"{scheme}://ann:secret@127.0.0.1:1")
    assert away.error is Failure.PROXY
    assert "secret" not in away.detail


def test_the_name_of_the_proxy_is_looked_up_and_may_be_private() -> None:
    with (
        receiver(good) as running,
        proxy_server("http", running.port) as proxy,
        name_server({"proxy.example.com": "127.0.0.1"}) as names,
    ):
        proxy_url = proxy.url.replace("127.0.0.1", "proxy.example.com")
        options = {"name_servers": [names.address]}
        assert through(f"http://{PUBLIC}/", proxy_url, Policy(allow_http=True), **options).ok
        # A company's URL with that name is refused as ever.
        inside = through("https://proxy.example.com/", proxy_url, Policy(), **options)
        assert inside.error is Failure.FORBIDDEN_ADDRESS


def test_variables_of_the_environment_have_no_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, CLOSED)
    with receiver(good) as running, proxy_server("http", running.port) as proxy:
        assert send(running.url).ok
        monkeypatch.setenv("no_proxy", "*")
        assert through(running.url, proxy.url).ok
        assert len(proxy.requests) == 1


@pytest.mark.parametrize(
    "text",
    ["https://p:1", "p:3128", "http://", "http://p:0", "http://p/x", "socks5h://p", "http://1.2.3"],
)
def test_a_bad_value_is_refused_unsaid(text: str) -> None:
    with pytest.raises(BadProxy) as bad:
        parse_proxy(text)
    assert text not in str(bad.value)


def test_refusal_of_the_proxy_costs_no_attempt_and_no_health(
    company: Company, receiver: Receiver, loopback: Policy
) -> None:
    build.webhook(company, url=receiver.url)
    publishing.publish([build.news(company)])
    with proxy_server("http", 1, 403) as proxy:
        assert deliver(loopback, proxy=parse_proxy(proxy.url)) == 1
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.step, delivery.attempts) == (State.WAITING, 0, 1)
    assert Attempt.objects.get().error == "proxy_refused"
    assert not Health.objects.filter(failures__gt=0).exists()
    assert receiver.log == []


def test_a_proxy_that_is_away_costs_nothing_and_deliveries_go_on_when_it_is_back(
    company: Company,
    receiver: Receiver,
    loopback: Policy,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("deliveries.http.proxies.FIRST_REST_SECONDS", 0.02)
    monkeypatch.setattr("deliveries.http.proxies.LONGEST_REST_SECONDS", 0.02)
    build.webhook(company, url=receiver.url)
    publishing.publish([build.news(company, shipment) for shipment in range(1, 6)])
    with proxy_server("http", int(receiver.url.rsplit(":", 1)[1]), 407) as proxy:
        recorded = proxy.requests

        class Mending(list[str]):
            def append(self, text: str) -> None:
                super().append(text)
                if len(self) >= 7:
                    proxy.refusal = 0

        proxy.requests = Mending(recorded)
        assert deliver(loopback, proxy=parse_proxy(proxy.url)) == 5
        # In-flight requests count, and then one at a time.
        assert len(proxy.requests) < 20
    assert len(receiver.log) == 5
    assert {each.error for each in Attempt.objects.all()} == {""}
    assert not Health.objects.filter(failures__gt=0).exists()
    logs = [each.getMessage() for each in caplog.records if "outgoing proxy" in each.getMessage()]
    assert len(logs) == 2


def test_doctor_says_what_is_wrong_and_no_login(settings: Settings) -> None:
    with proxy_server("http", 1, 403, login="ann:secret") as proxy:
        settings.DELIVERY_PROXY = proxy.url
        assert examined("outgoing_proxy").grade is Grade.OK
        assert "secret" not in str(examined("outgoing_proxy"))
        settings.DELIVERY_PROXY = proxy.address
        assert examined("outgoing_proxy").grade is Grade.FAIL


@pytest.mark.parametrize(
    ("proxy", "addresses", "grade"),
    [
        ("", "127.0.0.1", Grade.OK),
        ("http://203.0.114.9", "", Grade.OK),
        ("http://203.0.114.9", "203.0.114.0/24", Grade.OK),
        ("http://203.0.114.9", "203.0.113.0/24", Grade.WARN),
        ("http://10.1.2.3", "203.0.114.9", Grade.OK),  # its outside address is unknown
        ("http://10.1.2.3", "127.0.0.1", Grade.WARN),  # this host's own
        ("http://proxy.internal", "127.0.0.1", Grade.WARN),
        ("http://127.0.0.1", "127.0.0.1", Grade.OK),
    ],
)
def test_doctor_warns_where_companies_are_told_addresses_of_which_nothing_comes(
    settings: Settings, proxy: str, addresses: str, grade: Grade
) -> None:
    settings.DELIVERY_PROXY = proxy
    settings.SENDER_ADDRESSES = tuple(map(ip_network, filter(None, [addresses])))

    assert examined("sender_addresses").grade is grade


def test_test_sends_leave_through_it(settings: Settings, company: Company) -> None:
    settings.WEBHOOK_ALLOW_HTTP = True
    settings.WEBHOOK_ALLOWED_NETWORKS = LOOPBACK.allowed_networks
    with receiver(good) as running, proxy_server("http", running.port) as proxy:
        settings.DELIVERY_PROXY = proxy.url
        assert send_sample(company, tracking_number="T1", url=running.url).delivered
        assert proxy.requests == [f"127.0.0.1:{running.port}"]


def test_an_outage_is_told_by_the_loops_that_meet_it_and_its_end_is_asked_for(
    client: Client,
    company: Company,
    receiver: Receiver,
    loopback: Policy,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings.DELIVERY_PROXY = CLOSED

    def broker_check() -> dict[str, object]:
        return client.get("/readyz").json()["checks"]["outgoing_proxy"]

    assert broker_check() == {"ok": True, "detail": "no loop has trouble with it"}
    monkeypatch.setattr("deliveries.engine.leases.HEARTBEAT_SECONDS", 0.0)
    build.webhook(company, url=receiver.url)
    publishing.publish([build.news(company)])
    with closing(Transport(loopback, proxy=parse_proxy(CLOSED))) as transport:
        began = time.monotonic()
        # A loop whose heartbeat fails to report it stops after 20 s.
        stop = lambda: bool(leases.proxy_troubles()) or time.monotonic() - began > 20  # noqa: E731
        sending = engine(transport, stop)
        monkeypatch.setattr(sending, "shut_down", lambda: None)
        sending.run()

    assert broker_check() == {
        "ok": False,
        "detail": "The outgoing proxy cannot be reached. Loops that cannot send: 1",
    }
    assert (
        'parceldesk_part_ok{part="outgoing_proxy"} 0.0' in client.get("/metrics").content.decode()
    )

    # The proxy works again, and the loop has had nothing to send since.
    with proxy_server("http", 1, 403) as proxy:
        settings.DELIVERY_PROXY = proxy.url
        assert broker_check()["ok"]
