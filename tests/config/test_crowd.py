"""Counts of a web process's connections, and of the bytes that they hold."""

from ipaddress import ip_network
from types import SimpleNamespace
from typing import Any

import pytest

from config.door import allowances
from config.door.crowd import Crowd, counted_address
from config.networks import PRIVATE, parse_networks


class Client:
    """The part of a connection that is counted."""

    def __init__(self, client: tuple[str, int]) -> None:
        self.client = client
        self.memory_bytes = 0
        self.spooled = 0
        self.in_memory = 0
        self.sock = SimpleNamespace(spooled=0)

    def size(self) -> int:
        return self.in_memory


def connection(client: tuple[str, int] = ("192.0.2.1", 5000)) -> Any:
    return Client(client)


def crowd(most: int = 9, per_address: int = 9) -> Crowd:
    return Crowd(most, per_address, [ip_network("10.0.0.0/8")])


def hold(pool: Crowd, each: Any, in_memory: int, on_disk: int) -> None:
    each.in_memory, each.sock.spooled = in_memory, on_disk
    pool.count_bytes(each)


@pytest.mark.parametrize("over", ["MOST_HELD", "MOST_SPOOLED"])
def test_connection_that_ends_gives_back_what_it_held(
    over: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(allowances, over, 0)
    pool, one, other = crowd(), connection(), connection()
    for each in (one, other):
        assert pool.add(each)
        pool.mark_waiting(each)
    hold(pool, one, 100, 1000)
    hold(pool, other, 20, 200)
    hold(pool, one, 60, 600)
    assert (pool.memory_bytes, pool.spooled, pool.connection_to_close()) == (80, 800, one)

    pool.remove(one)

    assert (pool.memory_bytes, pool.spooled, pool.connection_to_close()) == (20, 200, other)
    pool.remove(other)
    assert (pool.memory_bytes, pool.spooled, pool.connection_to_close()) == (0, 0, None)
    assert (len(pool), pool.by_address, pool.longest_waiting()) == (0, {}, None)


def test_address_has_its_share_and_a_proxy_has_no_limit() -> None:
    pool = crowd(per_address=2)
    same = [connection(("2001:db8::1", 1)), connection(("2001:db8::ffff", 2))]
    assert [pool.add(each) for each in same] == [True, True]
    assert not pool.add(connection(("2001:db8::2", 3)))
    assert pool.add(connection(("2001:db8:0:1::2", 3)))
    assert all(pool.add(connection(("10.0.0.1", number))) for number in range(3))
    assert all(pool.add(connection(("::ffff:10.0.0.1", number))) for number in range(3))

    pool.remove(same[0])

    assert pool.add(connection(("2001:db8::2", 3)))
    assert pool.is_full()


def test_strangers_are_closed_before_connections_of_a_proxy() -> None:
    pool = crowd()
    proxy, first, second = (
        connection((address, 1)) for address in ("10.0.0.1", "192.0.2.1", "192.0.2.2")
    )
    for each in (proxy, first, second):
        pool.add(each)
        pool.mark_waiting(each)
    assert pool.longest_waiting() is first

    pool.mark_busy(first)
    assert pool.longest_waiting() is second
    pool.mark_busy(second)
    assert pool.longest_waiting() is proxy


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
