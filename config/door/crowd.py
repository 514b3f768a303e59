"""All connections of a web process: how many an address may have, and who goes when it is full."""

from collections import Counter
from collections.abc import Iterable, Iterator
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any

from config.door import allowances
from config.door.connections import Connection, Stage

Network = IPv4Network | IPv6Network
# What one customer of a provider has to itself.
IPV6_PREFIX = 64


class Crowd:
    def __init__(self, most: int, most_per_address: int, trusted: Iterable[Network]) -> None:
        self.most = most
        self.most_per_address = most_per_address
        self.trusted = tuple(trusted)
        self.members: dict[Connection, str | None] = {}
        self.by_address: Counter[str] = Counter()
        # Those that wait for their client, the longest first: strangers, and the proxies' own.
        self.strangers: dict[Connection, None] = {}
        self.proxies: dict[Connection, None] = {}
        self.held = 0
        self.spooled = 0

    def __iter__(self) -> Iterator[Connection]:
        return iter(self.members)

    def __len__(self) -> int:
        return len(self.members)

    def __contains__(self, connection: Connection) -> bool:
        return connection in self.members

    def is_in_transfer(self) -> bool:
        """Tell if a body or an answer is on its way."""
        return any(each.stage in (Stage.BODY, Stage.READER) for each in self.members)

    def is_full(self) -> bool:
        return len(self.members) >= self.most

    def add(self, connection: Connection) -> bool:
        """Returns False, and adds nothing, where its address has as many as it may."""
        address = counted_address(connection.client, self.trusted)
        if address is not None:
            if self.by_address[address] >= self.most_per_address:
                return False
            self.by_address[address] += 1
        self.members[connection] = address
        return True

    def remove(self, connection: Connection) -> None:
        address = self.members.pop(connection)
        self.busy(connection)
        self.held -= connection.held
        self.spooled -= connection.spooled
        if address is not None:
            self.by_address[address] -= 1
            if not self.by_address[address]:
                del self.by_address[address]

    def is_trusted(self, connection: Connection) -> bool:
        return self.members.get(connection) is None

    def waits(self, connection: Connection) -> None:
        """From now on it waits for its client."""
        self.busy(connection)
        row = self.proxies if self.is_trusted(connection) else self.strangers
        row[connection] = None

    def busy(self, connection: Connection) -> None:
        self.strangers.pop(connection, None)
        self.proxies.pop(connection, None)

    def longest_waiting(self) -> Connection | None:
        return next(iter(self.strangers), None) or next(iter(self.proxies), None)

    def hold(self, connection: Connection) -> None:
        """Count the bytes of it that are in memory and on disk now."""
        self.held -= connection.held
        self.spooled -= connection.spooled
        connection.held = connection.size()
        connection.spooled = connection.sock.spooled
        self.held += connection.held
        self.spooled += connection.spooled

    def to_relieve(self) -> Connection | None:
        """The one that waits for its client and holds most of what is held too much of."""
        waiting = [*self.strangers, *self.proxies]
        if self.held > allowances.MOST_HELD:
            largest = max(waiting, key=lambda connection: connection.held, default=None)
            if largest is not None and largest.held:
                return largest
        if self.spooled > allowances.MOST_SPOOLED:
            largest = max(waiting, key=lambda connection: connection.spooled, default=None)
            if largest is not None and largest.spooled:
                return largest
        return None


def counted_address(client: Any, trusted: Iterable[Network]) -> str | None:
    """What connections are counted by: an IPv4 address, an IPv6 /64; None for who is trusted."""
    if not isinstance(client, tuple):
        return None  # a Unix socket
    address = ip_address(client[0].partition("%")[0])
    address = getattr(address, "ipv4_mapped", None) or address
    if any(address in network for network in trusted):
        return None
    if address.version == 4:
        return str(address)
    return str(ip_network((address, IPV6_PREFIX), strict=False))
