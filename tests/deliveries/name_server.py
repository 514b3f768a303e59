"""A name server on loopback that answers as a test defines, or not at all."""

import selectors
import socket
import struct
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from ipaddress import IPv4Address, ip_address

A, NS, CNAME, AAAA = 1, 2, 5, 28
CODES = {"SERVFAIL": 2, "NXDOMAIN": 3, "EMPTY": 0}
LARGEST_DATAGRAM = 1232
Reply = Callable[[bytes], object]


class NameServer:
    """Answers over UDP, and over TCP if the answer is too long for a datagram.

    `answers` are in the notation of the corpora: `A,B` several addresses, `NAME>A` an alias,
    `NXDOMAIN`, `SERVFAIL`, `EMPTY` no record at all, `TIMEOUT` silence until `release`; an empty
    text is a name without addresses. Names that begin with `dead` are silent; any other unknown
    name does not exist.
    """

    def __init__(self, answers: Mapping[str, str]) -> None:
        self.answers = dict(answers)
        self.questions: list[str] = []
        self.over_tcp: list[str] = []
        self._unanswered: defaultdict[str, list[tuple[bytes, Reply]]] = defaultdict(list)
        self._lock = threading.Lock()
        self._udp, self._tcp = _listeners()
        self.address = f"127.0.0.1:{self._udp.getsockname()[1]}"
        self._over, self._ending = socket.socketpair()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def release(self, host: str, answer: str) -> None:
        """Answer the open questions about this name, and later ones."""
        with self._lock:
            self.answers[host] = answer
            for question, reply in self._unanswered.pop(host, []):
                reply(_message(question, answer))

    def close(self) -> None:
        self._ending.close()
        self._thread.join()
        for each in (self._udp, self._tcp, self._over):
            each.close()

    def _serve(self) -> None:
        with selectors.DefaultSelector() as selector:
            for each in (self._udp, self._tcp, self._over):
                selector.register(each, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    if key.fileobj is self._over:
                        return
                    if key.fileobj is self._udp:
                        question, sender = self._udp.recvfrom(4096)
                        self._hear(question, self._datagram_to(sender))
                    else:
                        connection, _ = self._tcp.accept()
                        with connection, suppress(OSError, struct.error):
                            self._converse(connection)

    def _converse(self, connection: socket.socket) -> None:
        with connection.makefile("rb") as stream:
            while prefix := stream.read(2):
                question = stream.read(struct.unpack("!H", prefix)[0])
                self.over_tcp.append(_host(question))
                self._hear(question, lambda whole: connection.sendall(_framed(whole)))

    def _datagram_to(self, sender: tuple[str, int]) -> Reply:
        def reply(whole: bytes) -> object:
            return self._udp.sendto(
                whole if len(whole) <= LARGEST_DATAGRAM else _cut(whole), sender
            )

        return reply

    def _hear(self, question: bytes, reply: Reply) -> None:
        host = _host(question)
        with self._lock:
            self.questions.append(host)
            silent = "TIMEOUT" if host.startswith("dead") else "NXDOMAIN"
            answer = self.answers.get(host, silent)
            if answer == "TIMEOUT":
                self._unanswered[host].append((question, reply))
            else:
                reply(_message(question, answer))


@contextmanager
def name_server(answers: Mapping[str, str] | None = None) -> Iterator[NameServer]:
    running = NameServer(answers or {})
    try:
        yield running
    finally:
        running.close()


def _listeners() -> tuple[socket.socket, socket.socket]:
    """Listen for datagrams and connections on one port that is free for both."""
    while True:
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 * 1024 * 1024)
        udp.bind(("127.0.0.1", 0))
        try:
            return udp, socket.create_server(udp.getsockname())
        except OSError:
            udp.close()


def _host(question: bytes) -> str:
    return ".".join(label.decode() for label in _labels(question))


def _labels(question: bytes) -> Iterator[bytes]:
    start = 12
    while length := question[start]:
        yield question[start + 1 : start + 1 + length]
        start += 1 + length


def _message(question: bytes, answer: str) -> bytes:
    """Build the answer to an A or AAAA question, with a TTL of 0.

    Without addresses of that kind an authority record gives the TTL: c-ares caches an answer
    without any record for an hour.
    """
    length = sum(1 + len(label) for label in _labels(question)) + 1
    question_section = question[12 : 12 + length + 4]
    (kind,) = struct.unpack("!H", question_section[-4:-2])
    code = CODES.get(answer, 0)
    alias, _, addresses = ("" if answer in CODES else answer).rpartition(">")
    records, name = [], b"\xc0\x0c"
    if alias:
        target = b"".join(bytes([len(each)]) + each.encode() for each in alias.split(".")) + b"\0"
        records.append(_record(name, CNAME, target))
        name = target
    for address in map(ip_address, filter(None, addresses.split(","))):
        if kind == (A if isinstance(address, IPv4Address) else AAAA):
            records.append(_record(name, kind, address.packed))
    authorities = [] if code or records or answer == "EMPTY" else [_record(name, NS, name)]
    counts = (1, len(records), len(authorities), 0)
    header = struct.pack("!2sHHHHH", question[:2], 0x8180 | code, *counts)
    return header + question_section + b"".join(records + authorities)


def _record(name: bytes, kind: int, data: bytes) -> bytes:
    return name + struct.pack("!HHIH", kind, 1, 0, len(data)) + data


def _cut(message: bytes) -> bytes:
    """Set the bit for a truncated answer, and leave out its records."""
    identity, flags = struct.unpack("!2sH", message[:4])
    length = sum(1 + len(label) for label in _labels(message)) + 1
    return struct.pack("!2sHHHHH", identity, flags | 0x0200, 1, 0, 0, 0) + message[12 : 16 + length]


def _framed(message: bytes) -> bytes:
    return struct.pack("!H", len(message)) + message
