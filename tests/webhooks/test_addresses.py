from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webhooks.addresses import SPECIAL_IPV4, SPECIAL_IPV6, why_forbidden

# Copied by hand from the registries: the guard must not be its own witness.
RESERVED_BLOCKS = """
0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12
192.0.0.0/24 168.63.129.16/32
192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24
198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 255.255.255.255/32
::/8 ::/128 ::1/128 ::/96 ::ffff:0:0/96 ::ffff:0:0:0/96 64:ff9b::/96 64:ff9b:1::/48 100::/64
100:0:0:1::/64 200::/7 400::/6 800::/5 1000::/4 2001::/23 2001::/32 2001:2::/48 2001:10::/28
2001:20::/28 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20 4000::/3 5f00::/16 6000::/3
8000::/3 a000::/3 c000::/3 e000::/4 f000::/5 f800::/6 fc00::/7 fe80::/10 fec0::/10 ff00::/8
"""
RESERVED = RESERVED_BLOCKS.split()

GOOD_ADDRESSES = """
1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 93.184.216.34 100.63.255.255 100.128.0.0 126.255.255.255
168.63.129.15 168.63.129.17
128.0.0.0 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0
192.0.3.0 192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0
203.0.114.0 223.255.255.255 2000::1 2001:200::1 2001:db7:ffff::1 2001:db9::1
2003::1 2606:4700:4700::1111 2a00:1450:4003:80c::200e 3ffe:ffff::1 3fff:1000::1
"""


@pytest.mark.parametrize("block", RESERVED)
def test_refuses_the_edges_of_every_reserved_block(block: str) -> None:
    network = ip_network(block)
    edges = {network[0], network[-1], network[min(1, network.num_addresses - 1)]}
    assert all(why_forbidden(edge) for edge in edges)
    assert all(why_forbidden(str(edge)) for edge in edges)


@settings(max_examples=1000)
@given(st.data())
def test_refuses_any_address_of_any_reserved_block(data: st.DataObject) -> None:
    network = ip_network(data.draw(st.sampled_from(RESERVED)))
    address = data.draw(st.ip_addresses(network=network))
    assert why_forbidden(address)


@given(st.ip_addresses(v=4), st.sampled_from(["::", "::ffff:0:0", "64:ff9b::", "::ffff:0:0:0"]))
def test_refuses_an_ipv4_address_carried_in_ipv6(inner: IPv4Address, prefix: str) -> None:
    assert why_forbidden(IPv6Address(int(IPv6Address(prefix)) + int(inner)))
    assert why_forbidden(IPv6Address(int(IPv6Address("2002::")) + (int(inner) << 80)))


@pytest.mark.parametrize("address", GOOD_ADDRESSES.split())
def test_admits_public_addresses(address: str) -> None:
    assert why_forbidden(address) is None
    assert why_forbidden(ip_address(address)) is None


@pytest.mark.parametrize(
    "text",
    ["", "127.1", "0x7f.0.0.1", "010.8.8.8", "8.8.8.8 ", "2606:4700::1%eth0", "fe80::1%1", "a.b"],
)
def test_refuses_what_is_not_one_plain_address(text: str) -> None:
    assert why_forbidden(text)
    assert why_forbidden(text, [ip_network("0.0.0.0/0"), ip_network("::/0")])


def test_exempts_the_networks_an_operator_allows_and_no_other() -> None:
    allowed = [ip_network("127.0.0.0/8"), ip_network("fd00::/8")]
    assert why_forbidden("127.255.255.255", allowed) is None
    assert why_forbidden("fd00::1", allowed) is None
    assert why_forbidden("::1", allowed) == "outside global unicast"
    assert why_forbidden("::ffff:127.0.0.1", allowed) == "outside global unicast"
    assert why_forbidden("10.0.0.1", allowed) == "private network"


def test_the_written_registries_and_the_guards_agree() -> None:
    listed = {ip_network(block) for block in RESERVED}
    guards: set[IPv4Network | IPv6Network] = {*SPECIAL_IPV4, *SPECIAL_IPV6}
    assert guards <= listed
