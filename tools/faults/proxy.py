"""Network between a worker and PostgreSQL that can go silent."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

CHUNK = 65_536


class Proxy:
    """Proxy that listens on `port` and forwards to a Unix socket: `with Proxy(path) as proxy:`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self._open = threading.Event()
        self._open.set()
        self._answering = threading.Event()
        self._answering.set()
        self._sockets: list[socket.socket] = [self.listener]

    def __enter__(self) -> "Proxy":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.set()
        self._answering.set()
        for each in self._sockets:
            # Closing alone does not wake a thread that reads from the socket.
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    @contextlib.contextmanager
    def silent(self) -> Iterator[None]:
        """Forward nothing for the duration of a block, without closing connections."""
        self._open.clear()
        try:
            yield
        finally:
            self._open.set()

    @contextlib.contextmanager
    def answers_held(self) -> Iterator[None]:
        """Forward requests but no answers for the duration of a block."""
        self._answering.clear()
        try:
            yield
        finally:
            self._answering.set()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                self._sockets.append(client)
                threading.Thread(target=self._connect, args=(client,), daemon=True).start()

    def _connect(self, client: socket.socket) -> None:
        self._open.wait()
        server = socket.socket(socket.AF_UNIX)
        self._sockets.append(server)
        with contextlib.suppress(OSError):
            server.connect(str(self.path))
            for source, target, may in (
                (client, server, self._open),
                (server, client, self._answering),
            ):
                pump = threading.Thread(target=self._pump, args=(source, target, may), daemon=True)
                pump.start()

    def _pump(self, source: socket.socket, target: socket.socket, may: threading.Event) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(CHUNK):
                self._open.wait()
                may.wait()
                target.sendall(data)
        self._open.wait()
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)
