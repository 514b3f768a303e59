"""A small proxy on loopback: HTTP or SOCKS 5, which records its requests and may refuse them."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class ProxyServer:
    """Whatever address is requested, the tunnels lead to `port` on loopback.

    `refusal`: the status or SOCKS byte to refuse with. `login`: the required credentials, if any.
    """

    def __init__(self, scheme: str, port: int, refusal: int = 0, login: str = "") -> None:
        self.scheme, self.port, self.refusal, self.login = scheme, port, refusal, login
        self.requests: list[str] = []
        self.heads: list[bytes] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        at = f"127.0.0.1:{self.listener.getsockname()[1]}"
        self.url = f"{scheme}://{login}{'@' if login else ''}{at}"
        self.address = f"{scheme}://{at}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            if (self._http if self.scheme == "http" else self._socks)(client):
                with socket.create_connection(("127.0.0.1", self.port)) as inner:
                    back = threading.Thread(target=pump, args=(inner, client), daemon=True)
                    back.start()
                    pump(client, inner)
                    back.join(5)

    def _http(self, client: socket.socket) -> bool:
        head = b""
        while b"\r\n\r\n" not in head:
            head += client.recv(4096)
        self.heads.append(head)
        self.requests.append(head.split()[1].decode())
        status = self.refusal
        if self.login and b"proxy-authorization: basic" not in head.lower():
            status = 407
        client.sendall(b"HTTP/1.1 %d CommandResult\r\nX-Proxy: 1\r\n\r\n" % (status or 200))
        return not status

    def _socks(self, client: socket.socket) -> bool:
        methods = client.recv(64)[2:]
        if self.login and 2 not in methods:
            client.sendall(b"\x05\xff")
            return False
        client.sendall(b"\x05\x02" if self.login else b"\x05\x00")
        if self.login:
            client.recv(600)
            client.sendall(b"\x01\x00")
        request = client.recv(64)
        kind = request[3]
        address = socket.inet_ntop(socket.AF_INET, request[4:8]) if kind == 1 else f"kind {kind}"
        self.requests.append(f"{address}:{int.from_bytes(request[-2:], 'big')}")
        client.sendall(bytes([5, self.refusal, 0, 1, 0, 0, 0, 0, 0, 0]))
        return not self.refusal


def pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


@contextmanager
def proxy_server(
    scheme: str, port: int, refusal: int = 0, login: str = ""
) -> Iterator[ProxyServer]:
    running = ProxyServer(scheme, port, refusal, login)
    try:
        yield running
    finally:
        running.listener.close()
