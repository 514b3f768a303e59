"""All connections of a web process: the limit for each address, and which to close when full."""

from collections import Counter
from collections.abc import Iterable, Iterator
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any

from config.door import allowances
from config.door.connections import Connection, Stage

Network = IPv4Network | IPv6Network
# A provider assigns a network of this size to one customer.
IPV6_PREFIX = 64


class Crowd:
    def __init__(self, most: int, most_per_address: int, trusted: Iterable[Network]) -> None:
        self.most = most
        self.most_per_address = most_per_address
        self.trusted = tuple(trusted)
        self.members: dict[Connection, str | None] = {}
        self.by_address: Counter[str] = Counter()
        # Connections that wait for their client, the longest first: strangers', and proxies'.
        self.strangers: dict[Connection, None] = {}
        self.proxies: dict[Connection, None] = {}
        self.memory_bytes = 0
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
        """Add a connection; return False, and add nothing, if its address has its maximum."""
        address = counted_address(connection.client, self.trusted)
        if address is not None:
            if self.by_address[address] >= self.most_per_address:
                return False
            self.by_address[address] += 1
        self.members[connection] = address
        return True

    def remove(self, connection: Connection) -> None:
        address = self.members.pop(connection)
        self.mark_busy(connection)
        self.memory_bytes -= connection.memory_bytes
        self.spooled -= connection.spooled
        if address is not None:
            self.by_address[address] -= 1
            if not self.by_address[address]:
                del self.by_address[address]

    def is_trusted(self, connection: Connection) -> bool:
        return self.members.get(connection) is None

    def mark_waiting(self, connection: Connection) -> None:
        """Note that the connection waits for its client."""
        self.mark_busy(connection)
        row = self.proxies if self.is_trusted(connection) else self.strangers
        row[connection] = None

    def mark_busy(self, connection: Connection) -> None:
        self.strangers.pop(connection, None)
        self.proxies.pop(connection, None)

    def longest_waiting(self) -> Connection | None:
        return next(iter(self.strangers), None) or next(iter(self.proxies), None)

    def count_bytes(self, connection: Connection) -> None:
        """Update the bytes that a connection has in memory and on disk."""
        self.memory_bytes -= connection.memory_bytes
        self.spooled -= connection.spooled
        connection.memory_bytes = connection.size()
        connection.spooled = connection.sock.spooled
        self.memory_bytes += connection.memory_bytes
        self.spooled += connection.spooled

    def connection_to_close(self) -> Connection | None:
        """Return the waiting connection that holds most of the resource over its limit, or None."""
        waiting = [*self.strangers, *self.proxies]
        if self.memory_bytes > allowances.MOST_HELD:
            largest = max(waiting, key=lambda connection: connection.memory_bytes, default=None)
            if largest is not None and largest.memory_bytes:
                return largest
        if self.spooled > allowances.MOST_SPOOLED:
            largest = max(waiting, key=lambda connection: connection.spooled, default=None)
            if largest is not None and largest.spooled:
                return largest
        return None


def counted_address(client: Any, trusted: Iterable[Network]) -> str | None:
    """Return the key for counting: an IPv4 address or an IPv6 /64; None for a trusted client."""
    if not isinstance(client, tuple):
        return None  # a Unix socket
    address = ip_address(client[0].partition("%")[0])
    address = getattr(address, "ipv4_mapped", None) or address
    if any(address in network for network in trusted):
        return None
    if address.version == 4:
        return str(address)
    return str(ip_network((address, IPV6_PREFIX), strict=False))
